"""SARIF: what is written keeps to the standard's own schema."""

from __future__ import annotations

import json

from batchproof.reports.sarif import SarifResult, SarifRule, document, location, notification
from batchproof.suites.selftest.sarif_schema import problems

RULE = SarifRule("X-1", "One is one", "Count again.")


def log(*results: SarifResult, invocation: dict[str, object] | None = None) -> str:
    """Return a log of these results."""
    return document("x", "1", [RULE], results, invocation or {"executionSuccessful": True}, {"HERE": "this folder"})


def test_a_log_keeps_to_the_official_schema() -> None:
    """Results, suppressions, notifications, and places below a named folder."""
    failed = SarifResult("X-1", "error", "two", location("a b.txt", 3, 4, "HERE"))
    known = SarifResult("X-1", "note", "two", location("c"), {"suppressions": [{"kind": "external"}]})
    noted = {"executionSuccessful": False, "toolExecutionNotifications": [notification("gone", "error", location("d"))]}

    assert problems(log(failed, known, invocation=noted)) == []


def test_the_schema_notices_what_is_wrong() -> None:
    """A level that does not exist, and lines that count from 0, are refused: the validation does something."""
    wrong = SarifResult("X-1", "fatal", "two", location("a", 0))  # type: ignore[arg-type]

    assert len(problems(log(wrong))) == 2


def test_a_path_is_a_reference() -> None:
    """Blanks, percent signs and bytes that are not UTF-8 are escaped, so that nothing is taken for a host or a query."""
    data = json.loads(log(SarifResult("X-1", "error", "two", location("a b%\udcff?#.txt"))))

    place = data["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "a%20b%25%FF%3F%23.txt"}
