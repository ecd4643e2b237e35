"""What of a report needs attention, as GitHub and as code scanning see it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from batchproof.reports import Report, read
from batchproof.reports.alerts import to_github, to_sarif
from batchproof.suites.selftest.report_lines import DELAY, HOSTILE, LINES, RESULTS, footer, header, one, result, write
from batchproof.suites.selftest.sarif_schema import problems


def report(*results: dict[str, object], **fields: object) -> Report:
    """Return a whole report of these results."""
    return Report(header(rules=[line["rule"] for line in results]), (), results, footer(**fields))


def test_each_cause_is_a_line_and_the_sentence_is_the_last(tmp_path: Path) -> None:
    """Errors first; what is known, skipped or observed has no line; the last one has the sentence."""
    lines = list(to_github(read(write(tmp_path, *LINES)), "out"))

    heads = [line.partition("::expected")[0].partition("::NOT")[0] for line in lines]
    assert heads == [
        "::error title=ERROR DB-DELAY-003%3A What DB-DELAY-003 says",
        "::error title=FAIL DB-DELAY-004%3A The delay is counted from the oldest request",
        "::warning title=INCONCLUSIVE DB-DELAY-002%3A What DB-DELAY-002 says",
        "::error title=Batchproof%3A triton 2.51.0",
    ]
    assert "check --replay out/bundles/db-delay-004-1729.zip" in lines[1]
    assert lines[-1].endswith("::NOT CONFORMANT: 1 of 3 judged MUST rules fails")


def test_what_follows_is_counted_with_its_cause() -> None:
    """GitHub shows ten errors of a step: one line for a cause, whatever follows from it."""
    failing = [result("DB-SIZE-001", "FAIL"), result("DB-SIZE-002", "FAIL", after=["DB-SIZE-001"])]

    first, last = to_github(report(*failing, exit_status=1))

    assert "what follows from it: DB-SIZE-002" in first
    assert "(1 of them follows from another)" in last


@pytest.mark.parametrize(
    ("fields", "level"),
    [
        ({"exit_status": 0}, "notice"),
        ({"exit_status": 5}, "error"),
        ({"exit_status": 1}, "error"),
        ({"exit_status": 0, "complete": False}, "error"),
    ],
)
def test_the_last_line_is_as_serious_as_the_end(fields: dict[str, object], level: str) -> None:
    """A run that did not come to its end is an error whatever its rules say."""
    (last,) = to_github(report(result("DB-SIZE-001"), **fields))

    assert last.startswith(f"::{level} title=Batchproof")


def test_doubt_is_a_warning() -> None:
    """A run that noise has spoilt is neither good nor bad."""
    *_, last = to_github(report(result("DB-SIZE-001"), result("DB-SIZE-002", "INCONCLUSIVE"), exit_status=75))

    assert last.startswith("::warning title=Batchproof")


def test_a_rule_that_need_not_hold_is_a_warning() -> None:
    """A SHOULD that fails is no error."""
    assert next(to_github(report(result("DB-SIZE-001", "FAIL", level="SHOULD")))).startswith("::warning ")


def test_sarif_keeps_to_the_official_schema(tmp_path: Path) -> None:
    """The log of a report with every verdict; a truncated one; and one with hostile text."""
    whole = read(write(tmp_path, *LINES))
    hostile = one(verdict="KNOWN", reason=HOSTILE, actual=HOSTILE, link=HOSTILE, hints=[HOSTILE], title=HOSTILE)

    for each in (whole, Report(whole.header, whole.attempts, whole.results, None), hostile):
        assert problems(to_sarif(each)) == []


def test_sarif_has_what_needs_attention(tmp_path: Path) -> None:
    """Failures are errors, a known issue is suppressed with its reason, and what is inconclusive is open."""
    run = json.loads(to_sarif(read(write(tmp_path, *LINES))))["runs"][0]

    found = {line["ruleId"]: line for line in run["results"]}
    assert list(found) == ["DB-DELAY-001", "DB-DELAY-002", "DB-DELAY-003", DELAY]
    assert found["DB-DELAY-001"]["suppressions"][0]["justification"] == "timer rounds up https://example.org/issues/12"
    assert (found["DB-DELAY-002"]["kind"], found["DB-DELAY-002"]["level"]) == ("open", "none")
    place = found[DELAY]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert (found[DELAY]["level"], place["uri"]) == ("error", "bundles/db-delay-004-1729.zip")
    assert run["invocations"][0]["exitCode"] == 1


def test_sarif_says_that_a_run_did_not_end() -> None:
    """A truncated report is not a successful execution, and the sentence is a notification."""
    cut = Report(header(), (), tuple(RESULTS[:1]), None)

    (invocation,) = json.loads(to_sarif(cut))["runs"][0]["invocations"]

    assert invocation["executionSuccessful"] is False
    assert invocation["toolExecutionNotifications"][0]["message"]["text"].startswith("NO VERDICT: the report is truncated")
