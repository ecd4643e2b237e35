"""What pip prints: how far it is, and why it failed."""

from batchproof.commands.env.pip import Progress, why

NO_NETWORK = [
    (
        "WARNING: Retrying (Retry(total=4, connect=None, read=None, redirect=None, status=None)) after connection broken by "
        "'NewConnectionError('<pip._vendor.urllib3.connection.HTTPSConnection object at 0x7f>: Failed to establish a new "
        "connection: [Errno -2] Name or service not known')': /simple/tiny/"
    ),
    "ERROR: Could not find a version that satisfies the requirement tiny==1.0 (from versions: none)",
    "ERROR: No matching distribution found for tiny==1.0",
]


def test_the_bytes_of_packages_are_counted():
    """Downloads, files of pip's cache, and those of an index on this machine; not the beginnings of packages."""
    heard = []
    progress = Progress(200_000_000, lambda *said: heard.append(said))

    for line in (
        "Collecting tiny==1.0\n",
        "  Downloading tiny-1.0.whl.metadata (2 kB)\n",
        "  Downloading https://index/a/tiny-1.0.whl (133.5 MB)\n",
        "Using cached small-1.0.whl (25 kB)\n",
        "Installing collected packages: small, tiny\n",
    ):
        progress.line(line)

    assert progress.done == 133_500_000 + 25_000 + 2_000
    assert heard == [
        ("downloading tiny-1.0.whl (133.5 MB)", 2_000, 200_000_000),
        ("downloading small-1.0.whl (25 kB)", 133_502_000, 200_000_000),
        ("installing 2 packages", 0, 0),
    ]


def test_a_file_of_this_machine_has_its_size(tmp_path):
    """An index may be a folder."""
    path = tmp_path / "tiny-1.0.whl"
    path.write_bytes(b"x" * 1234)
    progress = Progress(0, lambda *_: None)

    progress.line(f"Processing {path} (from other==2)\n")
    progress.line("Processing /nowhere/other-1.0.whl\n")

    assert progress.done == 1234


def test_an_index_that_cannot_be_reached_is_named():
    """Pip says that there is no such version, and why only in a warning before that."""
    said = why(NO_NETWORK, 1)

    assert "Could not find a version that satisfies the requirement tiny==1.0" in said
    assert "its index cannot be reached: Name or service not known" in said


def test_versions_that_do_not_go_together_are_named():
    """Pip names them in lines that do not begin as errors do."""
    lines = ["ERROR: Cannot install a: conflicting dependencies.", "", "The conflict is caused by:",
             "    a 1 depends on b", "    The user requested (constraint) b==2", ""]

    assert why(lines, 1).endswith("conflicting dependencies. a 1 depends on b, The user requested (constraint) b==2")


def test_a_full_disk_is_named():
    """Whatever pip says besides."""
    assert why(["ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"], 1) == (
        "there is no space left on the device"
    )


def test_a_pip_that_says_nothing_has_a_status():
    """And one without errors is quoted with its last line."""
    assert why([], -9) == "pip ended with status -9: it printed nothing"
    assert why(["Collecting x", "Killed", ""], 137) == "pip ended with status 137: Killed"
