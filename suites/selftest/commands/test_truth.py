"""`batchproof truth`: a verdict against the evidence fails, and the tables that are shipped can be used."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from batchproof.commands.truth import checked
from batchproof.reports.formats.truth import TruthError
from batchproof.suites.selftest.command_line import invoke, one_message
from batchproof.suites.selftest.report_lines import DELAY, HOSTILE, LINES, TARGET, fact, header, truth_table, write

ROOT = Path(__file__).parents[3]
TABLES = ROOT / "docs" / "stacks" / "truth"


def folders(tmp_path: Path, *facts: dict[str, object]) -> tuple[Path, Path]:
    """Return a report of Triton, in which DB-SIZE-001 passes and DB-DELAY-004 fails, and a folder with a table of it."""
    return write(tmp_path / "report", *LINES), truth_table(tmp_path / "tables" / "triton.toml", *facts).parent


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        (fact(DELAY), f"{DELAY}: the report says FAIL, but it holds: It counts rows. (source: core.py:12)"),
        (fact(holds=False), "DB-SIZE-001: the report says PASS, but it does not hold: It counts rows. (source: core.py:12)"),
        (fact("DB-DELAY-001"), "DB-DELAY-001: the report says KNOWN, but it holds: It counts rows. (source: core.py:12)"),
        (fact(DELAY, holds="unclaimed"),
         f"{DELAY}: the report says FAIL, but the stack does not promise it: It counts rows. (source: core.py:12)"),
    ],
    ids=["a wrong FAIL", "a wrong PASS", "a wrong KNOWN", "unclaimed"],
)  # fmt: skip
def test_a_contradiction_is_one_line_and_exit_1(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], entry: dict[str, object], line: str
) -> None:
    """The line has the target, the rule, both sides, and the evidence."""
    report, tables = folders(tmp_path, entry)

    status, out, err = invoke(capfd, "truth", report, "--tables", tables)

    assert (status, err) == (1, "")
    assert out.splitlines()[0] == f"CONTRADICTION  triton 2.51.0  {line}"
    assert "12 facts, 0 confirmed, 1 contradiction, 11 not judged (" in out.splitlines()[1]


def test_what_agrees_is_counted(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Facts of other versions are left out, and rules that were not judged are named."""
    entries = (fact(), fact(DELAY, holds=False), fact("DB-SIZE-002"), fact(holds=False, versions="<2.51"))
    report, tables = folders(tmp_path, *entries)

    status, out, err = invoke(capfd, "truth", report, "--tables", tables)

    assert (status, err) == (0, "")
    assert out.startswith("triton 2.51.0: 11 facts, 2 confirmed, 0 contradictions, 9 not judged (DB-SIZE-002 SKIPPED, ")
    assert "DB-PRIO-001 without a result" in out


def test_nothing_judged_is_not_green(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A report that judged none of the facts is exit 5."""
    report, tables = folders(tmp_path)

    assert invoke(capfd, "truth", report, "--tables", tables)[0] == 5


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ([fact("DB-SIZE-999")], "entry 1 (DB-SIZE-999): there is no such rule: "),
        ([fact(), fact(says="Again.")], "entry 2 (DB-SIZE-001): an earlier entry is about the same rule and versions"),
        ([fact(versions="two")], "entry 1 (DB-SIZE-001): 'two' is not a version specifier"),
        ([fact(evidence=None)], "entry 1 (DB-SIZE-001): it lacks 'evidence'"),
    ],
    ids=["unknown rule", "twice", "versions", "no evidence"],
)
def test_a_broken_table_is_refused(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], facts: list[dict[str, object]], message: str
) -> None:
    """It is exit 2 with one message, and nothing is compared."""
    report, tables = folders(tmp_path, *facts)

    status, out, err = invoke(capfd, "truth", report, "--tables", tables)

    assert (status, out) == (2, "")
    assert message in one_message(err)


def test_a_target_without_a_table_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Without a table there is nothing to compare with. What the target calls itself cannot break the message."""
    _, tables = folders(tmp_path)
    strange = write(tmp_path / "strange", header(target=TARGET | {"name": HOSTILE}), *LINES[1:])

    status, out, err = invoke(capfd, "truth", strange, "--tables", tables)

    assert (status, out) == (2, "")
    assert "no table of truth for the target '<script>" in one_message(err)
    assert "\x1b" not in err


@pytest.mark.skipif(not TABLES.is_dir(), reason="no docs here: the tables are not installed")
def test_there_are_tables() -> None:
    """The next test would pass with none."""
    assert {path.stem for path in TABLES.glob("*.toml")} >= {"reference"}


@pytest.mark.parametrize("path", sorted(TABLES.glob("*.toml")), ids=lambda path: path.stem)
def test_a_shipped_table_can_be_used(path: Path) -> None:
    """Rules exist, twelve entries at least, each with evidence; a program exists, is short and does not use the suite."""
    programs = {piece.removeprefix("program: ") for entry in checked(path) for piece in entry.evidence
                if piece.startswith("program: ")}  # fmt: skip

    for program in programs:
        source = (ROOT / program).read_text(encoding="utf-8")
        imported = {one.module or "" for one in ast.walk(ast.parse(source)) if isinstance(one, ast.ImportFrom)}
        imported |= {name.name for one in ast.walk(ast.parse(source)) if isinstance(one, ast.Import) for name in one.names}
        assert len(source.splitlines()) <= 40, program
        assert not [name for name in imported if name.startswith("batchproof") and "reference_batcher" not in name], program


def test_a_table_that_lies_about_a_rule_is_found(tmp_path: Path) -> None:
    """The check of shipped tables refuses a rule that does not exist."""
    with pytest.raises(TruthError, match="no such rule"):
        checked(truth_table(tmp_path / "x.toml", fact("DB-NONE-001")))
