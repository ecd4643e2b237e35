"""The embedded Triton under test, as far as no server is needed: what it says when this machine cannot run it."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from batchproof.targets.protocol import TargetError
from batchproof.targets.triton import embedded


def test_a_missing_wheel_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without nvidia-pytriton the message names the extra to install."""
    monkeypatch.setattr(embedded, "find_spec", lambda _name: None)

    with pytest.raises(TargetError, match=r"pip install 'batchproof\[triton\]'"):
        embedded.EmbeddedServer()


def test_a_missing_libpython_names_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without the shared libpython the message names the Debian package."""
    origin = tmp_path / "pytriton" / "__init__.py"
    (origin.parent / "tritonserver" / "bin").mkdir(parents=True)
    (origin.parent / "tritonserver" / "bin" / "tritonserver").touch()
    monkeypatch.setattr(embedded, "find_spec", lambda _name: SimpleNamespace(origin=str(origin)))
    monkeypatch.setattr(Path, "exists", lambda self: self.name == "tritonserver")

    with pytest.raises(TargetError, match=r"libpython3\.\d+\.so.*apt install libpython3"):
        embedded.EmbeddedServer()


@pytest.mark.parametrize(
    ("statvfs", "message"),
    [
        (lambda _path: SimpleNamespace(f_bavail=1, f_frsize=4096), "--shm-size=256m"),
        (lambda _path: (_ for _ in ()).throw(FileNotFoundError()), "there is no /dev/shm"),
    ],
    ids=["full", "absent"],
)
def test_too_little_shared_memory_is_reported(monkeypatch: pytest.MonkeyPatch, statvfs: object, message: str) -> None:
    """Without room in shared memory a model would hang while it loads, so this is reported before the server starts."""
    monkeypatch.setattr(embedded.Layout, "find", lambda: None)
    monkeypatch.setattr(os, "statvfs", statvfs)

    with pytest.raises(TargetError, match=message):
        embedded.EmbeddedServer()


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo 'failed to bind: Address already in use' >&2; exit 1", "ended with status 1.*Address already in use"),
        ("kill -9 $$", "killed by SIGKILL"),
    ],
    ids=["port in use", "killed"],
)
def test_a_server_that_does_not_start_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str, message: str
) -> None:
    """The error has the end of its log, and nothing is left behind."""
    binary = tmp_path / "tritonserver"
    binary.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    binary.chmod(0o755)
    layout = SimpleNamespace(
        binary=binary, caches=tmp_path, backends=lambda into: into, environment=lambda: dict(os.environ)
    )
    monkeypatch.setattr(embedded.Layout, "find", lambda: layout)
    monkeypatch.setattr(embedded.tempfile, "mkdtemp", lambda prefix: str(_made(tmp_path / f"{prefix}x")))

    with pytest.raises(TargetError, match=f"(?s){message}"):
        embedded.EmbeddedServer()

    assert [path.name for path in tmp_path.iterdir()] == ["tritonserver"]


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_leftovers_of_dead_runs_are_swept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Folders and shared memory with the id of a dead process are removed; those of a live process stay."""
    dead, live = 2**22 + 1, os.getpid()  # above the kernel's largest process id
    for owner in (dead, live):
        (tmp_path / f"batchproof-triton-{owner}-abc").mkdir()
        (tmp_path / f"batchproof_{owner}_abc_1").touch()
    monkeypatch.setattr(embedded, "SHM", tmp_path)
    monkeypatch.setattr(embedded.tempfile, "gettempdir", lambda: str(tmp_path))

    embedded._sweep()

    assert sorted(path.name for path in tmp_path.iterdir()) == [f"batchproof-triton-{live}-abc", f"batchproof_{live}_abc_1"]
