"""`batchproof summary`: the Markdown of a pull request, and what it says when there is no base."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from batchproof.commands.summary import summarise
from batchproof.exit_status import ExitStatus
from batchproof.suites.selftest.report_lines import LINES, footer, header, result, write


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


@pytest.mark.parametrize(
    ("verdict", "level", "status"),
    [
        ("PASS", "MUST", ExitStatus.FINE), ("KNOWN", "MUST", ExitStatus.FINE), ("FAIL", "SHOULD", ExitStatus.FINE),
        ("FAIL", "MUST", ExitStatus.FAILED), ("ERROR", "MUST", ExitStatus.FAILED), ("SKIPPED", "MUST", ExitStatus.FAILED),
        ("INCONCLUSIVE", "MUST", ExitStatus.INCONCLUSIVE), ("INCONCLUSIVE", "SHOULD", ExitStatus.FINE),
    ],
)  # fmt: skip
def test_as_a_gate_it_fails_for_what_is_worse(tmp_path: Path, verdict: str, level: str, status: ExitStatus) -> None:
    """What failed before does not stop a change, and what passed before and is not judged any more does."""
    old = [result("DB-A-001", level=level), result("DB-A-002", "FAIL")]
    new = [result("DB-A-001", verdict, level=level), result("DB-A-002", "FAIL")]
    rules = header(rules=["DB-A-001", "DB-A-002"])
    folders = [
        write(tmp_path / name, rules, *lines, footer(counts=Counter(line["verdict"] for line in lines)))
        for name, lines in (("old", old), ("new", new))
    ]

    assert summarise(folders[1], folders[0], gate=True) is status
    assert summarise(folders[1], folders[0]) is ExitStatus.FINE


def test_a_known_defect_is_not_worse_in_another_version(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An entry names the versions that it is about: without it the defect is a FAIL again, and as old as it was."""
    folders = [
        write(tmp_path / word, header(rules=["DB-A-001"]), result("DB-A-001", word), footer(counts={word: 1}))
        for word in ("KNOWN", "FAIL")
    ]

    assert summarise(folders[1], folders[0], gate=True) is ExitStatus.FINE
    assert "1 known issue fails without its entry: DB-A-001." in capsys.readouterr().out


def test_a_base_that_is_missing_loses_nothing(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The summary without it is printed, it says why, and the status is 2."""
    assert summarise(folder, tmp_path / "gone") is ExitStatus.MISUSE

    shown = capsys.readouterr()
    assert "**NOT CONFORMANT" in shown.out
    assert f"- Not compared with a base: {tmp_path}/gone: no such file\n" in shown.out
    assert shown.err.startswith("batchproof: the base cannot be read: ")


PERF = "PERF-A-001"


def measured(folder: Path, rows_per_s: float) -> Path:
    """Write a report with a figure, known to a thousandth."""
    figure = {"id": "perf.a.rows_per_s", "value": rows_per_s, "unit": "rows/s", "better": "higher", "n": 100, "valid": True}
    figure |= {"low": rows_per_s * 0.999, "high": rows_per_s * 1.001}
    host = {"python": "3.11", "kernel": "6.8", "cpus": 2, "fingerprint": "a", "cpu": "A"}
    return write(folder, header(rules=[PERF], host=host), result(PERF, figures=[figure]), footer(counts={"PASS": 1}))


@pytest.mark.parametrize(
    ("now", "status", "word"), [(80.0, ExitStatus.FAILED, "SLOWER"), (100.0, ExitStatus.FINE, "UNPROVEN")]
)
def test_figures_are_compared_too(
    tmp_path: Path, now: float, status: ExitStatus, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Below the verdicts; and what is slower fails the gate, although every rule holds."""
    base, new = measured(tmp_path / "base", 100.0), measured(tmp_path / "new", now)

    assert summarise(new, base, gate=True) is status

    out = capsys.readouterr().out
    assert "No verdict changed.\n\n### Figures\n\n**" in out
    assert f"**{word}" in out


def test_a_report_that_is_not_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line on standard error, and nothing else."""
    (tmp_path / "report.jsonl").write_text("{}\n")

    assert summarise(tmp_path, None) is ExitStatus.MISUSE

    shown = capsys.readouterr()
    assert (shown.out, shown.err.count("\n")) == ("", 1)
