"""What changed between two reports, rule by rule."""

from __future__ import annotations

from typing import Any

import pytest

from batchproof.reports import Report
from batchproof.reports.changes import KINDS, changes, kind, same_catalogue
from batchproof.suites.selftest.report_lines import footer, header, result


def report(rules: tuple[str, ...] = (), /, *, after: str = "", **verdicts: str) -> Report:
    """Return a report with these verdicts; `A` stands for DB-A-001. rules: further ones, without a result."""
    given = {"after": [f"DB-{after}-001"] if after else []}
    lines = [result(f"DB-{name}-001", verdict, **given) for name, verdict in verdicts.items()]
    return Report(header(rules=[*(line["rule"] for line in lines), *rules]), (), tuple(lines), footer())


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ("PASS", "FAIL", "new failure"), ("SKIPPED", "FAIL", "new failure"), ("-", "FAIL", "new failure"),
        ("KNOWN", "FAIL", "no longer known"), ("INCONCLUSIVE", "FAIL", "new failure"), ("PASS", "ERROR", "new error"),
        ("KNOWN", "ERROR", "new error"), ("FAIL", "ERROR", "other"), ("ERROR", "FAIL", "other"),
        ("PASS", "INCONCLUSIVE", "new doubt"), ("FAIL", "INCONCLUSIVE", "new doubt"),
        ("PASS", "KNOWN", "new known issue"), ("FAIL", "KNOWN", "new known issue"), ("-", "KNOWN", "new known issue"),
        ("FAIL", "PASS", "fixed"), ("ERROR", "PASS", "fixed"), ("KNOWN", "PASS", "fixed"),
        ("INCONCLUSIVE", "PASS", "fixed"), ("-", "PASS", "judged now"), ("UNSUPPORTED", "PASS", "judged now"),
        ("OBSERVED", "PASS", "other"), ("PASS", "SKIPPED", "not judged any more"), ("PASS", "-", "not judged any more"),
        ("FAIL", "?", "not judged any more"), ("-", "SKIPPED", "other"), ("SKIPPED", "UNSUPPORTED", "other"),
    ],
)  # fmt: skip
def test_every_pair_of_verdicts_has_a_word(before: str, now: str, said: str) -> None:
    """A rule that was not judged and fails is a new failure; one that is no longer judged is not fixed."""
    assert kind(before, now) == said


def test_changes_are_in_the_order_in_which_people_read_them() -> None:
    """Failures first; what is as it was is counted and not listed."""
    base = report(A="PASS", B="FAIL", C="PASS", D="FAIL", E="PASS", F="PASS")
    new = report(A="PASS", B="PASS", C="INCONCLUSIVE", D="FAIL", E="FAIL", F="KNOWN")

    found = changes(base, new)

    said = [(one.rule[3], one.kind) for one in found.changes]
    assert said == [("E", "new failure"), ("C", "new doubt"), ("F", "new known issue"), ("B", "fixed")]
    assert [KINDS.index(word) for _, word in said] == sorted(KINDS.index(word) for _, word in said)
    assert (found.remaining, found.both) == (1, 6)


def test_rules_of_one_report_alone_are_changes_too() -> None:
    """A rule that was not selected is `-`, and one that a truncated report has not reached is `?`."""
    found = changes(report(A="PASS", B="PASS"), report(("DB-B-001",), A="PASS", C="PASS"))

    assert [(one.rule, one.before, one.now, one.kind) for one in found.changes] == [
        ("DB-B-001", "PASS", "?", "not judged any more"),
        ("DB-C-001", "-", "PASS", "judged now"),
    ]


def test_a_failure_names_its_cause() -> None:
    """What follows from another failure says from which."""
    found = changes(report(A="PASS", B="PASS"), report(after="A", A="FAIL", B="FAIL"))

    assert [one.cause for one in found.changes] == ["", "DB-A-001"]


@pytest.mark.parametrize("fields", [{"batchproof": "1999.1.0"}, {"catalogue": "x"}, {"must_rules": {"CORE": 8}}])
def test_catalogues_are_told_apart(fields: dict[str, Any]) -> None:
    """Another version, another stamp, or another number of MUST rules is another catalogue."""
    one = Report(header(), (), (), None)

    assert same_catalogue(one, one)
    assert not same_catalogue(one, Report(header(**fields), (), (), None))
