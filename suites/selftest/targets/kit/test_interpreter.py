"""The interpreter of a server's half: what it lacks is said before anything starts."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from batchproof.targets.kit import Interpreter
from batchproof.targets.protocol import Misuse, TargetError


def fake(path: Path, script: str) -> str:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_our_own_is_the_default() -> None:
    """It knows the versions of what is needed."""
    interpreter = Interpreter(needs=["numpy"])

    assert interpreter.path == sys.executable
    assert interpreter.versions == {"numpy": np.__version__}
    assert interpreter.command("server.py", 8000, "x") == [sys.executable, "server.py", "8000", "x"]


def test_what_it_lacks_is_named_with_the_way_to_install_it() -> None:
    """Every distribution that is missing is listed."""
    with pytest.raises(TargetError, match=r"does not have nosuch-one, nosuch-two: .* -m pip install nosuch-one"):
        Interpreter(needs=["numpy", "nosuch-one", "nosuch-two"])
    with pytest.raises(TargetError, match=r"nosuch-one: ask its owner$"):
        Interpreter(needs=["nosuch-one"], hint="ask its owner")


@pytest.mark.parametrize(
    ("script", "message"),
    [("echo hello", "is not a Python with numpy: it printed nothing"),
     ("echo \"ModuleNotFoundError: No module named 'numpy'\" >&2; exit 1", "not a Python with numpy: ModuleNotFoundError")],
    ids=["another program", "no numpy"],
)
def test_another_program_is_refused(tmp_path: Path, script: str, message: str) -> None:
    """The message quotes what it printed."""
    with pytest.raises(Misuse, match=message):
        Interpreter(fake(tmp_path / "python", script))


def test_a_path_without_a_program_is_refused(tmp_path: Path) -> None:
    """The message has the option as it was given."""
    with pytest.raises(Misuse, match=r"\?python=.*nothing.*: .* cannot be run: No such file"):
        Interpreter(str(tmp_path / "nothing"))


def test_the_environment_of_another_python_is_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Our PYTHON variables do not reach it, and the witness is all that is added to its path."""
    monkeypatch.setenv("PYTHONPATH", "/ours")
    other = Interpreter(fake(tmp_path / "python", f'exec {sys.executable} "$@"'))

    theirs, ours = other.environment(tmp_path), Interpreter().environment(tmp_path)

    assert theirs["PYTHONPATH"] == str(tmp_path / "path")
    assert ours["PYTHONPATH"] == f"{tmp_path / 'path'}{os.pathsep}/ours"
    assert [path.name for path in (tmp_path / "path").iterdir()] == ["batchproof_witness"]
    assert theirs["BATCHPROOF_WITNESS"] == str(tmp_path)
