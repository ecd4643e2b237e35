"""An environment is made whole, or not at all."""

import fcntl
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from batchproof.commands.env import make as making
from batchproof.commands.env.make import check_python, make
from batchproof.suites.selftest.commands.env.wheels import wheel
from batchproof.targets.protocol import Misuse, TargetError


def made(wanted, folder, python=sys.executable, heard=None):
    hear = (lambda *_: None) if heard is None else (lambda what, *_: heard.append(what))
    return make(wanted, folder, python, check_python(wanted, python), hear)


def test_an_environment_is_made_once(index, tiny, tmp_path):
    """It is found again; its programs know where they are; nothing else is left, not even of one that was killed."""
    folder = tmp_path / "env"
    rest = folder / ".tiny-1.0.half" / "lib"
    rest.mkdir(parents=True)
    (rest / "rest").write_text("of one that was killed")
    heard = []

    first = made(tiny, folder, heard=heard)
    second = made(tiny, folder)

    assert (first.place, first.seconds > 0) == (folder / "tiny-1.0", True)
    assert (second.place, second.seconds) == (first.place, 0)
    assert [path.name for path in folder.iterdir()] == ["tiny-1.0"]
    assert not (first.place / "tmp").exists()
    assert not (first.place / "lib" / "rest").exists()
    program = subprocess.run([first.place / "bin" / "tiny-runs"], capture_output=True, text=True, check=True)
    assert program.stdout == "runs\n"
    look = [first.place / "bin" / "python", "-c", "import unwanted"]
    assert "No module named 'unwanted'" in subprocess.run(look, capture_output=True, text=True, check=False).stderr
    assert heard[0].startswith("making an environment with Python 3.")
    assert heard[-1] == "trying to import tiny"


def test_a_package_can_come_without_what_it_asks_for(index, tiny, tmp_path):
    """The others bring what they need; what this one needs is nowhere."""
    wheel(index, "needy", "1.0", asks="absent==7")
    wheel(index, "whole", "1.0", asks="unwanted")
    wanted = replace(tiny, packages=("needy==1.0", "whole"), alone=("needy==1.0",), remove=())

    assert made(replace(wanted, imports="needy, whole, unwanted"), tmp_path / "env").place == tmp_path / "env" / "tiny-1.0"


def test_pip_keeps_to_the_versions_that_were_tried(tiny, tmp_path):
    """With the Python that they were tried with; with another one there may be no such versions."""
    wanted = replace(tiny, locked=("tiny==1.0", "unwanted==2.0"), locked_for="3.11")

    held = making._held(tmp_path, wanted, "3.11.9")

    assert held == ["--constraint", str(tmp_path / "constraints.txt")]
    assert (tmp_path / "constraints.txt").read_text() == "tiny==1.0\nunwanted==2.0\n"
    assert making._held(tmp_path, wanted, "3.1.9") == making._held(tmp_path, tiny, "3.11.9") == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"packages": ("absent==7",)}, "pip ended with status 1: Could not find a version that satisfies the requirement"),
        ({"imports": "tiny.none"}, "tiny.none cannot be imported: ModuleNotFoundError: No module named 'tiny.none'"),
    ],
    ids=["no-package", "no-import"],
)  # fmt: skip
def test_what_fails_leaves_nothing(index, tiny, tmp_path, change, said):
    """One message with the reason, and an empty folder."""
    with pytest.raises(TargetError) as caught:
        made(replace(tiny, **change), tmp_path / "env")

    assert str(caught.value).startswith(f"cannot make the environment tiny-1.0: {said}")
    assert list((tmp_path / "env").iterdir()) == []


def test_a_python_that_does_not_fit_is_named(tiny):
    """Before anything is downloaded."""
    with pytest.raises(Misuse, match=r"tiny 1\.0 needs Python <3, and .* is Python 3\.\d+\.\d+: name another"):
        check_python(replace(tiny, python="<3"), sys.executable)
    with pytest.raises(Misuse, match="--python /no/such/python cannot be run"):
        check_python(tiny, "/no/such/python")
    with pytest.raises(Misuse, match="--python /bin/true is not a Python"):
        check_python(tiny, "/bin/true")


def test_room_is_looked_for_first(tiny, tmp_path):
    """It is cheaper to say it now than after an hour of downloads."""
    with pytest.raises(TargetError, match=r"tiny-1\.0 needs about 1250000000000 MB in .*, and \d+ MB are free: make room"):
        made(replace(tiny, installed_mb=10**12), tmp_path / "env")
    assert list((tmp_path / "env").iterdir()) == []


def test_a_folder_that_cannot_be_written_is_named(tiny, tmp_path):
    """With the option that names another one."""
    (tmp_path / "file").write_text("")

    with pytest.raises(TargetError, match=r"file/env cannot be written: Not a directory; name another one with --folder"):
        made(tiny, tmp_path / "file" / "env")


def test_two_do_not_make_the_same(tiny, tmp_path):
    """The second one says so, and leaves the first one alone."""
    half = tmp_path / ".tiny-1.0.half"
    half.mkdir()
    lock = os.open(half, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)

    with pytest.raises(TargetError, match=r"another process is making tiny-1\.0"):
        made(tiny, tmp_path)
    os.close(lock)

    assert half.exists()


def test_a_folder_that_became_another_is_not_touched(tiny, tmp_path, monkeypatch):
    """Who opened the folder while another process was still at it may get the lock when that one has given it its name."""
    half, place = tmp_path / ".tiny-1.0.half", tmp_path / "tiny-1.0"
    flock = fcntl.flock

    def renamed_meanwhile(lock, how):
        half.rename(place)
        (place / "kept").write_text("")
        flock(lock, how)

    monkeypatch.setattr(making.fcntl, "flock", renamed_meanwhile)
    with pytest.raises(TargetError, match="another process is making"):
        made(tiny, tmp_path)

    assert [path.name for path in tmp_path.rglob("*")] == ["tiny-1.0", "kept"]
