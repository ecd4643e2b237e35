"""The summary for a pull request: five lines and a table."""

from __future__ import annotations

import pytest

from batchproof.reports import Report
from batchproof.reports.pull_request import ROWS, to_summary
from batchproof.suites.selftest.report_lines import HOSTILE, TARGET, footer, header, one, result


def report(*results: dict[str, object], version: str = "2.51.0", status: int = 0, **fields: object) -> Report:
    """Return a whole report of these results."""
    target = TARGET | {"version": version}
    head = header(rules=[line["rule"] for line in results], target=target, **fields)
    return Report(head, (), results, footer(exit_status=status))


def test_five_lines_and_a_table() -> None:
    """The sentence of the new report, that of the base, what is broken, what is fixed, and what was judged."""
    base = report(result("DB-A-001", "FAIL"), *(result(f"DB-B-00{n}") for n in (1, 2, 3)), version="2.50.0", status=1)
    failing = [result("DB-B-001", "FAIL"), result("DB-B-002", "FAIL", after=["DB-B-001"])]
    new = report(result("DB-A-001"), *failing, result("DB-B-003", "KNOWN"), status=1)

    by = "judged 2026-11-21 by Batchproof 2026.11.0"
    assert to_summary(new, base).splitlines() == [
        "## Batchproof: triton 2.51.0",
        "",
        f"- **NOT CONFORMANT: 2 of 4 judged MUST rules fail (1 of them follows from another)** (profile CORE, {by})",
        f"- Base: triton 2.50.0 was NOT CONFORMANT: 1 of 4 judged MUST rules fails ({by}).",
        "- 2 new failures: DB-B-001 and DB-B-002 (1 of them follows from another rule). 1 new known issue: DB-B-003.",
        "- 1 rule is fixed: DB-A-001.",
        "- 4 rules judged in both.",
        "",
        "| change                             | rule     | level | title              | before   | now      |",
        "| ---------------------------------- | -------- | ----- | ------------------ | -------- | -------- |",
        "| new failure                        | DB-B-001 | MUST  | What DB-B-001 says | PASS     | **FAIL** |",
        "| new failure, follows from DB-B-001 | DB-B-002 | MUST  | What DB-B-002 says | PASS     | **FAIL** |",
        "| new known issue                    | DB-B-003 | MUST  | What DB-B-003 says | PASS     | KNOWN    |",
        "| fixed                              | DB-A-001 | MUST  | What DB-A-001 says | **FAIL** | PASS     |",
    ]


def test_nothing_changed() -> None:
    """No table, and the rules that still fail are counted."""
    same = report(result("DB-A-001", "FAIL"), result("DB-A-002"), status=1)

    text = to_summary(same, same)

    assert "- No new failure; 1 rule fails as before.\n- No rule is fixed.\n- 2 rules judged in both.\n" in text
    assert text.endswith("\n\nNo verdict changed.\n")


def test_doubts_and_errors_are_not_failures() -> None:
    """What noise or the rig has made undecided has its own words."""
    base = report(*(result(f"DB-A-00{n}") for n in (1, 2, 3)))
    new = report(result("DB-A-001", "INCONCLUSIVE"), result("DB-A-002", "ERROR"), result("DB-A-003", "SKIPPED"), status=1)

    text = to_summary(new, base)

    assert "No new failure; 1 rule cannot be judged any more: DB-A-002. 1 rule is inconclusive now: DB-A-001.\n" in text
    assert "- 2 rules judged in both; 1 is not judged any more: DB-A-003.\n" in text


def test_another_catalogue_is_said() -> None:
    """A change may be the suite's and not the target's."""
    text = to_summary(report(result("DB-A-001")), report(result("DB-A-001"), batchproof="2026.10.0"))

    assert "The base was judged by another catalogue of rules" in text


def test_without_a_base_the_causes_are_the_table() -> None:
    """Why there is no base is a line; what follows from another failure is left out of the table."""
    failing = [result("DB-A-001", "FAIL", actual="9 rows"), result("DB-A-002", "FAIL", after=["DB-A-001"])]

    text = to_summary(report(*failing, status=1), without="no base was given")

    assert "- no base was given\n" in text
    assert ("| **FAIL** | DB-A-001 | MUST" in text, "DB-A-002" in text) == (True, False)


def test_a_long_table_is_cut_and_says_so() -> None:
    """Nobody reads a hundred rows in a pull request."""
    many = [f"DB-A-{n:03}" for n in range(100)]

    text = to_summary(report(*(result(rule, "FAIL") for rule in many), status=1), report(*map(result, many)))

    assert (text.count("| new failure |"), text.endswith("\n\n... and 60 more.\n")) == (ROWS, True)
    assert "100 new failures: DB-A-000 to 011, and 88 more." in text


def test_a_truncated_report_says_so() -> None:
    """What was not reached is not a change for the better."""
    whole = report(result("DB-A-001"), result("DB-A-002"))
    cut = Report(whole.header, (), whole.results[:1], None)

    text = to_summary(cut, whole)

    assert "> **Truncated.**" in text
    assert "1 is not judged any more: DB-A-002" in text


@pytest.mark.parametrize("with_base", [True, False])
def test_hostile_text_stays_text(with_base: bool) -> None:
    """Nothing that a target said becomes markup."""
    bad = one(verdict="FAIL", title=HOSTILE, actual=HOSTILE)
    bad = Report({**bad.header, "target": {**TARGET, "name": HOSTILE}}, (), bad.results, bad.footer)

    text = to_summary(bad, one(title=HOSTILE) if with_base else None, without=HOSTILE)

    assert not [part for part in ("<script>", " | `rm", "``` ", " **bold", " [x](", "\x1b", "\u202e") if part in text]
