"""`batchproof image build`, as far as no engine is needed: the base, the files, and what the engine gets."""

from __future__ import annotations

import io
import sys
import tarfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from batchproof.host.live_line import LiveLine
from batchproof.targets.docker.engine import Engine
from batchproof.targets.protocol import TargetError
from batchproof.targets.triton import image, rootfs

LDD = """/usr/bin/bash:
\tlinux-vdso.so.1 (0x00007ffd)
\tlibtinfo.so.6 => /lib/x86_64-linux-gnu/libtinfo.so.6 (0x00007f1)
\tlibcuda.so.1 => not found
\t/lib64/ld-linux-x86-64.so.2 (0x00007f2)
/opt/x.so:
\tstatically linked
"""


@pytest.mark.parametrize(
    ("base", "suite", "installed", "found"),
    [
        ("auto", "bookworm", True, ("mmdebstrap", "bookworm")),
        ("auto", "bookworm", False, ("host", "")),
        ("auto", "trixie", True, ("host", "")),
        ("mmdebstrap", "noble", True, ("mmdebstrap", "noble")),
        ("host", "bookworm", True, ("host", "")),
    ],
)
def test_the_base_is_the_distributions_if_it_will_do(base: str, suite: str, installed: bool, found: tuple[str, str]) -> None:
    """The distribution's system is used if it can be had and its numpy will do; otherwise this machine's is."""
    assert image.chosen(base, suite, installed) == found


@pytest.mark.parametrize(
    ("suite", "installed", "message"),
    [("bookworm", False, "apt install mmdebstrap"), ("trixie", True, "'trixie' is not one of bookworm, jammy, noble")],
)
def test_a_base_that_was_asked_for_is_not_replaced(suite: str, installed: bool, message: str) -> None:
    """If it cannot be had, that is an error."""
    with pytest.raises(TargetError, match=f"{message}.*--base host"):
        image.chosen("mmdebstrap", suite, installed)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("usr/lib/python3/dist-packages/numpy/core/_multiarray_umath.so", True),
        ("usr/lib/python3.11/encodings/utf_8.py", True),
        ("usr/lib/x86_64-linux-gnu/libc.so.6", True),
        ("etc/passwd", True),
        ("var/lib/dpkg/status", True),
        ("usr/share/doc", True),
        ("usr/share/doc/bash/copyright", False),
        ("usr/lib/python3/dist-packages/numpy/core/__pycache__", False),
        ("usr/lib/python3/dist-packages/numpy/core/__pycache__/a.cpython-311.pyc", False),
        ("usr/lib/python3/dist-packages/numpy/core/tests/test_a.py", False),
        ("usr/lib/x86_64-linux-gnu/perl/5.36.0/B.so", False),
        ("usr/share/locale/de/LC_MESSAGES/apt.mo", False),
        ("var/lib/apt/lists/a", False),
        ("dev/null", False),
    ],
)
def test_only_what_the_server_needs_is_kept(name: str, kept: bool) -> None:
    """Documents, translations, caches and tests are left out."""
    assert rootfs.kept(name) is kept


def test_the_loader_and_its_libraries_are_found() -> None:
    """Libraries that were not found, or are not files, are left out."""
    assert rootfs.parse_ldd(LDD) == [Path("/lib/x86_64-linux-gnu/libtinfo.so.6"), Path("/lib64/ld-linux-x86-64.so.2")]


def test_the_base_is_as_small_as_possible() -> None:
    """It is the smallest system of a suite, with Python as a program and as a library, and numpy."""
    assert rootfs.mmdebstrap("bookworm", Path("/x/base.tar")) == [
        "mmdebstrap", "--variant=minbase", "--include=python3,python3-numpy,libpython3.11", "--quiet",
        "bookworm", "/x/base.tar",
    ]


def test_the_root_file_system_has_nothing_twice(tmp_path: Path) -> None:
    """A base is copied without what is superfluous, and the server for one Python version is added."""
    wheel, libraries = tmp_path / "tritonserver", tmp_path / "libs"
    stub = "triton_python_backend_stub"
    for name in ("bin/tritonserver", "caches/local/c.so", "backends/python/b.so", f"backends/python/{stub}",
                 f"python_backend_stubs/3.11/{stub}", f"python_backend_stubs/3.12/{stub}"):
        (wheel / name).parent.mkdir(parents=True, exist_ok=True)
        (wheel / name).write_text(name, encoding="utf-8")
    libraries.mkdir()
    for name in ("libtritonserver.so", "libpython3-419a3a08.13.so.1.0"):
        (libraries / name).touch()
    base, result = tmp_path / "base.tar", tmp_path / "rootfs.tar"
    with tarfile.open(base, "w") as tar:
        for name in ("./etc/hosts", "./usr/share/doc/a", "./opt/tritonserver/lib/libtritonserver.so"):
            tar.addfile(tarfile.TarInfo(name), io.BytesIO())

    image.write(result, "3.11", wheel, libraries, minimal=base)

    with tarfile.open(result) as tar:
        files = [one.name for one in tar if one.isfile()]
        chosen = tar.extractfile(f"opt/tritonserver/backends/python/{stub}")
        assert chosen is not None
        assert chosen.read().decode() == f"python_backend_stubs/3.11/{stub}"
        assert tar.getmember("opt/tritonserver/bin/tritonserver").mode == 0o755
    assert sorted(files) == [
        "etc/hosts",
        "opt/tritonserver/backends/python/b.so",
        f"opt/tritonserver/backends/python/{stub}",
        "opt/tritonserver/bin/tritonserver",
        "opt/tritonserver/caches/local/c.so",
        "opt/tritonserver/lib/libtritonserver.so",
    ]


@pytest.mark.parametrize(
    ("answer", "refusal"),
    [('{"status":"sha256:ab"}\r\n', ""), ('{"status":"x"}\n{"errorDetail":{},"error":"no space"}\n', "no space"), ("", "")],
)
def test_a_refused_image_is_an_error(answer: str, refusal: str) -> None:
    """The engine's lines say whether it accepted the image."""
    assert image.refusal(answer) == refusal


@pytest.mark.parametrize(
    ("tag", "repository", "version"),
    [("batchproof-triton:2.51.0", "batchproof-triton", "2.51.0"), ("host:5000/t", "host:5000/t", "latest")],
)
def test_the_image_replaces_the_last_one_of_its_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tag: str, repository: str, version: str
) -> None:
    """The engine gets the name, the environment and the entry point; our earlier image of that name is removed."""
    told: dict[str, Any] = {}
    removed: list[str] = []
    before = SimpleNamespace(id="sha256:old", labels={image.LABEL: "x"})
    client = SimpleNamespace(
        api=SimpleNamespace(import_image=lambda **how: told.update(how) or ""),
        images=SimpleNamespace(get=lambda _tag: before, remove=removed.append),
    )
    monkeypatch.setattr(image.metadata, "version", lambda _name: "0.7.0")

    image._import(Engine(client), tmp_path / "x.tar", tag, "host")

    assert (told["repository"], told["tag"]) == (repository, version)
    assert 'ENTRYPOINT ["tritonserver"]' in told["changes"]
    assert told["changes"][-1] == 'LABEL batchproof.image="nvidia-pytriton 0.7.0" batchproof.base="host"'
    assert removed == ["sha256:old"]


def test_a_program_that_fails_is_quoted() -> None:
    """The error has the end of its output."""
    with pytest.raises(TargetError, match=r"(?s)python\S* ended with status 3; or use --base host:.*no mirror"):
        image._run([sys.executable, "-c", "import sys; print('no mirror'); sys.exit(3)"])


@pytest.mark.parametrize("terminal", [True, False])
def test_the_live_line_shows_bytes_on_a_terminal(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal there is a bar of bytes; elsewhere each new thing is one line."""
    monkeypatch.setenv("TERM", "xterm")
    out = io.StringIO()
    line = LiveLine(Console(file=out, force_terminal=terminal, width=100))

    for done in (0, 5_000_000, 10_000_000):
        line.say("pulling [x]", done, 10_000_000 if done else 0)
    line.stop()

    assert ("10.0/10.0 MB" in out.getvalue()) is terminal
    assert "pulling [x]" in out.getvalue()
    assert terminal or out.getvalue() == "pulling [x]\n"
