"""Headlines under test: what is called conformant, and to what."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from batchproof.reports import Report, headline
from batchproof.suites.selftest.report_lines import footer, header, one, result

NEVER = "never occurred, because of a busy host or of the target's design"


@pytest.mark.parametrize(
    ("fields", "ended", "words"),
    [
        ({}, {"exit_status": 0}, "CONFORMANT in part to CORE"),
        ({"verdict": "KNOWN"}, {"exit_status": 0}, "NO VERDICT: no MUST rule was judged to hold"),
        ({"verdict": "FAIL"}, {}, "NOT CONFORMANT: 1 of 1 judged MUST rule fails"),
        ({"verdict": "FAIL"}, {"complete": False}, "NOT CONFORMANT: 1 of 1 judged MUST rule fails"),
        ({"verdict": "FAIL", "level": "SHOULD"}, {"exit_status": 0}, "NO VERDICT: no MUST rule was judged to hold"),
        ({"verdict": "SKIPPED"}, {"exit_status": 0}, "NO VERDICT: no MUST rule was judged to hold"),
        ({"verdict": "SKIPPED", "told": "fail"}, {"exit_status": 0}, "NO VERDICT: no MUST rule was judged to hold"),
        ({"verdict": "ERROR"}, {}, "NO VERDICT: 1 of 1 MUST rule could not be judged"),
        ({"verdict": "INCONCLUSIVE"}, {}, "INCONCLUSIVE: the host was too noisy to judge 1 of 1 MUST rule"),
        ({"verdict": "NOT_OBSERVABLE"}, {"exit_status": 5}, "NO VERDICT: no rule was judged to hold"),
        ({}, {"exit_status": 3}, "NO VERDICT: no MUST rule failed, but the exit status is 3"),
        ({}, {"complete": False, "exit_status": 0}, "NO VERDICT: the run ended early, 1 of 1 rule with a result"),
    ],
)
def test_headline_claims_no_more_than_was_judged(fields: Any, ended: Any, words: str) -> None:
    """Only a complete report in which some MUST holds and none failed is called conformant."""
    report = one(**fields)
    assert headline(replace(report, footer={**(report.footer or {}), **ended})) == words


def test_what_was_not_driven_is_not_among_what_was() -> None:
    """A stack that claims little has hundreds of rules that nothing was asked of."""
    verdicts = "INCONCLUSIVE", "PASS", "SKIPPED", "UNSUPPORTED", "NOT_OBSERVABLE"
    lines = tuple(result(f"DB-SIZE-00{at}", verdict) for at, verdict in enumerate(verdicts))

    report = Report(header(rules=[line["rule"] for line in lines]), (), lines, footer())

    assert headline(report) == "INCONCLUSIVE: the host was too noisy to judge 1 of 2 MUST rules"


@pytest.mark.parametrize(
    ("noisy", "never", "words"),
    [
        (0, 1, f"what 1 of 1 MUST rule needs {NEVER}"),
        (0, 2, f"what 2 of 2 MUST rules need {NEVER}"),
        (2, 1, f"the host was too noisy to judge 2 of 3 MUST rules; what 1 more needs {NEVER}"),
    ],
)  # fmt: skip
def test_the_host_is_not_blamed_for_what_the_target_may_never_let_occur(noisy: int, never: int, words: str) -> None:
    """Measured again and again, a rule's precondition never occurred: that may be the design's doing."""
    actuals = ["slow"] * noisy + ["VACUOUS: no batch was formed"] * never
    lines = tuple(result(f"DB-SIZE-00{at}", "INCONCLUSIVE", actual=actual) for at, actual in enumerate(actuals))

    report = Report(header(rules=[line["rule"] for line in lines]), (), lines, footer())

    assert headline(report) == f"INCONCLUSIVE: {words}"


@pytest.mark.parametrize(
    ("results", "words"),
    [
        ([("CORE", "PASS"), ("CORE", "PASS"), ("PERF", "PASS")], "CONFORMANT to CORE; in part to PERF"),
        ([("CORE", "PASS"), ("CORE", "KNOWN"), ("CACHE", "PASS")], "CONFORMANT to CORE and CACHE, except for 1 known issue"),
        ([("CORE", "PASS"), ("CORE", "SKIPPED"), ("CACHE", "PASS")], "CONFORMANT to CACHE; in part to CORE"),
        ([("CORE", "PASS"), ("CORE", "NOT_OBSERVABLE")], "CONFORMANT in part to CORE"),
        ([("CORE", "PASS"), ("PERF", "PASS"), ("CACHE", "SKIPPED")], "CONFORMANT in part to CORE and PERF"),
    ],
)  # fmt: skip
def test_headline_says_to_which_profiles(results: Any, words: str) -> None:
    """A report is conformant to a profile only if every MUST rule of it was judged.

    Skipped and unselected rules are missed.
    """
    lines = tuple(result(f"DB-SIZE-00{at}", verdict, profile=profile) for at, (profile, verdict) in enumerate(results))
    ids = [line["rule"] for line in lines]
    rules = {"CORE": 2, "PERF": 2, "CACHE": 1}

    report = Report(header(rules=ids, must_rules=rules), (), lines, footer(exit_status=0))

    assert headline(report) == words


@pytest.mark.parametrize(
    ("results", "words"),
    [
        ({"told": "fail"}, "; 1 more would fail if it were claimed"),
        ({"told": "fail", "level": "SHOULD"}, ""),
        ({"told": "pass"}, ""),
    ],
)
def test_what_is_not_claimed_is_counted_beside_what_fails(results: Any, words: str) -> None:
    """The headline of a target that fails says how many MUST rules would fail if they were claimed."""
    lines = (result("DB-SIZE-001", "FAIL"), result("DB-SIZE-002"), result("DB-SIZE-003", "SKIPPED", **results))
    report = Report(header(rules=[line["rule"] for line in lines]), (), lines, footer())

    assert headline(report) == f"NOT CONFORMANT: 1 of 2 judged MUST rules fails{words}"


LACKS = {"without": "a queue delay"}


@pytest.mark.parametrize(
    ("results", "words"),
    [
        ([("CORE", "PASS", {}), ("CORE", "SKIPPED", LACKS), ("CACHE", "PASS", {})],
         "CONFORMANT to CORE without a queue delay; to CACHE"),
        ([("CORE", "KNOWN", {}), ("CORE", "SKIPPED", LACKS), ("PERF", "PASS", {})],
         "CONFORMANT to CORE without a queue delay, except for 1 known issue; in part to PERF"),
        ([("PERF", "PASS", {}), ("CORE", "SKIPPED", LACKS), ("CORE", "SKIPPED", LACKS)], "CONFORMANT in part to PERF"),
        ([("CORE", "PASS", {}), ("CORE", "PASS", LACKS)], "CONFORMANT to CORE"),
        ([("CORE", "PASS", {}), ("CORE", "SKIPPED", {}), ("PERF", "PASS", {})], "CONFORMANT in part to CORE and PERF"),
    ],
    ids=["lacks one thing", "with a known issue", "nothing was judged", "judged all the same", "not claimed"],
)  # fmt: skip
def test_nobody_is_conformant_without_what_it_lacks(results: Any, words: str) -> None:
    """A profile of which the target cannot have a part is kept without that part, and the headline names it."""
    lines = tuple(result(f"DB-SIZE-00{at}", word, profile=one, **more) for at, (one, word, more) in enumerate(results))
    rules = {"CORE": 2, "PERF": 2, "CACHE": 1}

    report = Report(header(rules=[line["rule"] for line in lines], must_rules=rules), (), lines, footer(exit_status=0))

    assert headline(report) == words


@pytest.mark.parametrize(
    ("lacks", "words"),
    [
        (("a queue delay", "a batch of one", "a queue delay"), "a queue delay or a batch of one"),
        (("a queue delay of 0", "a queue delay"), "a queue delay"),
        (("a queue delay of 0", "a queue delay of 1 h"), "a queue delay of 0 or a queue delay of 1 h"),
    ],
    ids=["several things", "one that includes the other", "two values"],
)
def test_each_lack_is_named_once(lacks: tuple[str, ...], words: str) -> None:
    """Several rules may lack the same thing. A target without a queue delay has no queue delay of 0 either."""
    lines = (result("DB-SIZE-000"), *(result(f"DB-SIZE-00{n}", "SKIPPED", without=one) for n, one in enumerate(lacks, 1)))
    rules = [line["rule"] for line in lines]

    report = Report(header(rules=rules, must_rules={"CORE": len(rules)}), (), lines, footer(exit_status=0))

    assert headline(report) == f"CONFORMANT to CORE without {words}"
