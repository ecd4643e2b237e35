"""`batchproof matrix`: a row for each stack, a column for each area, and one catalogue for all."""

from __future__ import annotations

from pathlib import Path

import pytest

from batchproof.commands.matrix import folded
from batchproof.reports.stacks import Grid
from batchproof.suites.selftest.command_line import invoke, one_message
from batchproof.suites.selftest.report_lines import DELAY, HOSTILE, LINES, RESULTS, TARGET, footer, header, result, write

CELLS = ["1/2", "-", "0/4 ✗2 ?2"]  # of RESULTS: PASS, SKIPPED; NOT_OBSERVABLE, OBSERVED; KNOWN, INCONCLUSIVE, ERROR, FAIL


def second(**fields: object) -> list[dict[str, object]]:
    """Return the lines of another stack's report, in which one rule was selected and holds."""
    about = header(target=TARGET | {"name": "other", "version": "1"}, rules=["DB-SIZE-001"], **fields)
    return [about, RESULTS[0], footer(counts={"PASS": 1}, exit_status=0)]


def cells(line: str) -> list[str]:
    """Return the cells of a row of markdown."""
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_a_row_for_each_stack(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """An area shows how many of its rules hold, fail, and could not be decided; what was not selected is empty."""
    write(tmp_path / "a", *LINES)
    write(tmp_path / "b", *second())

    status, out, err = invoke(capfd, "matrix", tmp_path, "--markdown")

    heads, _, first, other, *notes = out.splitlines()
    assert (status, err) == (0, "")
    assert cells(heads) == ["stack", "SIZE", "ORDER", "DELAY"]
    assert cells(first) == ["triton 2.51.0", *CELLS]
    assert cells(other) == ["other 1", "1/1", "", ""]
    assert notes[-1] == "Judged 2026-11-21 by 8 rules of Batchproof 2026.11.0."


def test_areas_can_be_chosen(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A pattern keeps its areas; one that matches nothing, or that has nothing to choose from, is refused."""
    write(tmp_path / "a", *LINES)

    out = invoke(capfd, "matrix", tmp_path, "--areas", "DB-S*,DB-DELAY", "--markdown")[1]
    none, both = (invoke(capfd, "matrix", tmp_path, "--areas", "DB-X*", *more) for more in ([], ["--rules"]))

    assert cells(out.splitlines()[0]) == ["stack", "SIZE", "DELAY"]
    assert (none[0], both[0]) == (2, 2)
    assert "no area matches 'DB-X*': choose from DB-SIZE, DB-ORDER, DB-DELAY" in one_message(none[2])
    assert "leave one of the two out" in one_message(both[2])


def test_a_row_for_each_rule(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """With --rules, every rule has its verdict on every stack."""
    write(tmp_path / "a", *LINES)
    write(tmp_path / "b", *second())

    out = invoke(capfd, "matrix", tmp_path / "a", tmp_path / "b", "--rules", "--markdown")[1]

    rows = [cells(line) for line in out.splitlines()]
    assert ["DB-SIZE-001", "PASS", "PASS"] in rows
    assert [DELAY, "FAIL", "-"] in rows


@pytest.mark.parametrize(
    "changed",
    [{"catalogue": "0123456789ab"}, {"must_rules": {"CORE": 8}}, {"batchproof": "2026.12.0"}],
    ids=["stamp", "number of rules", "version"],
)
def test_different_catalogues_are_not_mixed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], changed: dict[str, object]
) -> None:
    """It is exit 2 with one message, which names both reports: a comparison would mean nothing."""
    write(tmp_path / "a", *LINES)
    write(tmp_path / "b", *second(**changed))

    status, out, err = invoke(capfd, "matrix", tmp_path)

    message = one_message(err)
    assert (status, out) == (2, "")
    assert message.startswith("batchproof: triton 2.51.0 (Batchproof 2026.11.0, 2026-11-21) and other 1 (Batchproof ")
    assert message.endswith("judged by different catalogues of rules: judge both again with one version of Batchproof")


def test_a_rule_with_another_title_is_another_catalogue(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Reports without a stamp are compared by what their rules say."""
    write(tmp_path / "a", *LINES)
    about, _, end = second()
    write(tmp_path / "b", about, result("DB-SIZE-001", title="Something else"), end)

    assert "different catalogues" in one_message(invoke(capfd, "matrix", tmp_path)[2])


@pytest.mark.parametrize("form", [[], ["--markdown"], ["--rules"], ["--rules", "--markdown"]], ids="-".join)
def test_a_truncated_report_is_marked(tmp_path: Path, capfd: pytest.CaptureFixture[str], form: list[str]) -> None:
    """A report without its footer says so in every form."""
    write(tmp_path / "a", *LINES[:-1])

    assert "triton 2.51.0 (truncated)" in invoke(capfd, "matrix", tmp_path, *form)[1]


@pytest.mark.parametrize("form", [[], ["--markdown"], ["--rules"], ["--rules", "--markdown"]], ids="-".join)
def test_what_a_target_says_is_text(tmp_path: Path, capfd: pytest.CaptureFixture[str], form: list[str]) -> None:
    """A target's name can become neither markup nor an escape of the terminal."""
    write(tmp_path / "a", header(target=TARGET | {"name": f"[red]{HOSTILE}"}), *LINES[1:])

    status, out, _ = invoke(capfd, "matrix", tmp_path, *form)

    assert status == 0
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert ("&lt;script&gt;" in out) == ("--markdown" in form)
    assert ("[red]" in out.replace("\\", "")) or "[red]" in "".join(out.split())


def test_without_a_report_it_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """It is exit 2."""
    status, _, err = invoke(capfd, "matrix", tmp_path)

    assert status == 2
    assert "no report.jsonl in" in one_message(err)


def test_a_wide_grid_is_folded() -> None:
    """Each part repeats the first column and has as many others as fit; one at least, however narrow the terminal is."""
    grid = Grid(("stack", "A", "B", "C"), (("x" * 7, "1/1", "2/2", "3/3"),))  # 10 columns, and 6 for each area

    assert [part.heads for part in folded(grid, 23)] == [("stack", "A", "B"), ("stack", "C")]
    assert [part.heads for part in folded(grid, 5)] == [("stack", "A"), ("stack", "B"), ("stack", "C")]
    assert next(folded(grid, 23)).rows == (("x" * 7, "1/1", "2/2"),)
