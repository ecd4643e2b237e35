"""What `lint` and `explain` read, and where their output goes."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from batchproof.commands.explain.command import explain
from batchproof.commands.lint.command import LintOptions, lint
from batchproof.exit_status import ExitStatus

COMMANDS: dict[str, Callable[[str], ExitStatus]] = {
    "lint": lambda name: lint(LintOptions([name])),
    "lint --format json": lambda name: lint(LintOptions([name], form="json")),
    "explain": lambda name: explain([name]),
}
every_command = pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)


@pytest.fixture
def good(tmp_path: Path) -> str:
    """Return the path of a configuration in which nothing is wrong."""
    path = tmp_path / "good.pbtxt"
    path.write_text('backend: "onnxruntime"\n', encoding="utf-8")
    return str(path)


@every_command
def test_standard_input_may_be_closed(
    command: Callable[[str], ExitStatus], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """There is nothing to read then."""
    monkeypatch.setattr(sys, "stdin", None)
    assert command("-") is ExitStatus.MISUSE
    assert "cannot read <stdin>: standard input is closed" in capsys.readouterr().err


@every_command
def test_an_empty_name_is_not_this_folder(command: Callable[[str], ExitStatus], capsys: pytest.CaptureFixture[str]) -> None:
    """A variable of a script that is not set is a mistake."""
    assert command("") is ExitStatus.MISUSE
    assert "this name is empty" in capsys.readouterr().err


@every_command
def test_a_folder_that_must_not_be_read_is_told(
    command: Callable[[str], ExitStatus], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What lies in it is not left out in silence."""
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "config.pbtxt").write_text('backend: "onnxruntime"\n', encoding="utf-8")
    (tmp_path / "closed").mkdir()
    scan = os.scandir

    def closed(path: str) -> object:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", closed)
    assert command(str(tmp_path)) is ExitStatus.MISUSE
    assert f"cannot read {tmp_path / 'closed'}: Permission denied" in capsys.readouterr().err


def test_output_may_be_in_memory(good: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a program that calls it."""
    monkeypatch.setattr(sys, "stdout", out := io.StringIO())
    assert explain([good]) is ExitStatus.FINE
    assert "good.pbtxt: the model" in out.getvalue()
