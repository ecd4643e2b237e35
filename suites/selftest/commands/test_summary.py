"""`batchproof summary`: the Markdown of a pull request, and what it says when there is no base."""

from __future__ import annotations

from pathlib import Path

import pytest

from batchproof.commands.summary import summarise
from batchproof.exit_status import ExitStatus
from batchproof.suites.selftest.report_lines import LINES, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a report folder."""
    return write(tmp_path / "new", *LINES)


def test_with_and_without_a_base(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It tells, and does not gate: it is 0 although rules fail."""
    assert (summarise(folder, None), summarise(folder, folder)) == (ExitStatus.FINE, ExitStatus.FINE)

    out = capsys.readouterr().out
    assert out.count("## Batchproof: triton 2.51.0\n") == 2
    assert out.endswith("No verdict changed.\n")


def test_a_base_that_is_missing_loses_nothing(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The summary without it is printed, it says why, and the status is 2."""
    assert summarise(folder, tmp_path / "gone") is ExitStatus.MISUSE

    shown = capsys.readouterr()
    assert "**NOT CONFORMANT" in shown.out
    assert f"- Not compared with a base: {tmp_path}/gone: no such file\n" in shown.out
    assert shown.err.startswith("batchproof: the base cannot be read: ")


def test_a_report_that_is_not_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line on standard error, and nothing else."""
    (tmp_path / "report.jsonl").write_text("{}\n")

    assert summarise(tmp_path, None) is ExitStatus.MISUSE

    shown = capsys.readouterr()
    assert (shown.out, shown.err.count("\n")) == ("", 1)
