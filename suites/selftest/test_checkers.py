"""The judges under test: each rule's checker on hand-written evidence, at least once for yes and once for no."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from batchproof.fixtures.catalogue import rules
from batchproof.fixtures.checkers import checkers
from batchproof.fixtures.timeline import Timeline
from batchproof.suites.selftest import (
    cases_basic,
    cases_combinations,
    cases_fault,
    cases_performance,
    cases_policy,
    cases_preferred,
    cases_shapes,
)
from batchproof.suites.selftest.timelines import FAIL, INCONCLUSIVE, PASS

if TYPE_CHECKING:
    from batchproof.fixtures.evidence import Evidence
    from batchproof.fixtures.verdicts import Verdict

AREAS = (cases_basic, cases_preferred, cases_policy, cases_shapes, cases_fault, cases_combinations, cases_performance)
CASES = [case for area in AREAS for case in area.CASES]


@pytest.mark.parametrize(
    ("rule", "verdict", "actual", "evidence"),
    [pytest.param(rule, *rest, id=f"{rule} {what}") for rule, what, *rest in CASES],
)
def test_judgement(rule: str, verdict: Verdict, actual: str, evidence: Evidence) -> None:
    """A checker says the right word, and the number that it saw."""
    judgement = checkers()[rule](evidence)

    assert (str(judgement.verdict), judgement.actual) == (str(verdict), judgement.actual)
    assert actual in judgement.actual
    assert judgement.expected


def test_every_checker_is_heard_to_say_yes_and_no() -> None:
    """Each rule about behaviour or speed has a case that passes and one that fails; the bounded can be inconclusive."""
    heard = {rule: {verdict for name, _, verdict, *_ in CASES if name == rule} for rule in rules()}

    behaviour = [rule for rule in rules() if rule.startswith(("DB-", "PERF-"))]
    noisy = [rule for rule in behaviour if rules()[rule].evidence in ("bounded", "statistical")]

    assert [rule for rule in behaviour if not heard[rule] >= {PASS, FAIL}] == []
    assert [rule for rule in noisy if INCONCLUSIVE not in heard[rule]] == []


@pytest.mark.parametrize(
    ("rule", "evidence"),
    [pytest.param(rule, evidence, id=f"{rule} {what}") for rule, what, verdict, _, evidence in CASES
     if verdict is FAIL and isinstance(evidence, Timeline)],
)
def test_checkers_are_pure(rule: str, evidence: Timeline) -> None:
    """Judged again, and read back from JSON, the same evidence has the same judgement."""
    judgement = checkers()[rule](evidence)

    assert checkers()[rule](evidence) == checkers()[rule](Timeline.from_json(evidence.to_json())) == judgement
