"""Defaults: what a user gets who sets nothing."""

import pytest

from batchproof.fixtures.driving.script import MS, Answered, Entered, Release, Script, Send, burst
from batchproof.targets.claims import value_of
from batchproof.targets.defaults import StackDefaults

NOTHING_SET = StackDefaults()
MOST = 2_000  # requests that pile up; a larger default is not judged


def behind_a_busy_model(count: int) -> Script:
    """A burst while a request is in the model."""
    return (Send("first", work_ns=100 * MS), Entered("first"), *burst(count))


def backlog(claims) -> Script:
    """More requests than a default limit holds, piled up behind as many of them as the model takes at once."""
    count = min(MOST, max(160, 5 * (value_of(claims, "default_batch") or 0) // 4))
    return (*burst(count, hold="gate"), Send("late", after_ns=300 * MS), Release("gate"))


@pytest.mark.rule("DB-DEFAULT-001")
def test_own_result(drive, judge):
    """With nothing set, every request that is accepted gets its own result, once"""
    judge(drive(NOTHING_SET, behind_a_busy_model(62)))


@pytest.mark.rule("DB-DEFAULT-002")
def test_burst_is_served(drive, judge):
    """With nothing set, a burst of 32 requests behind a busy model is served as a whole"""
    judge(drive(NOTHING_SET, behind_a_busy_model(32)))


@pytest.mark.rule("DB-DEFAULT-003")
def test_within_the_documented_size(drive, judge, claims):
    """With nothing set, no batch holds more requests than the documentation says"""
    judge(drive(NOTHING_SET, backlog(claims)))


@pytest.mark.rule("DB-DEFAULT-004")
def test_documented_size(drive, judge, claims):
    """With nothing set, the batches of a backlog are as large as the documentation says"""
    judge(drive(NOTHING_SET, backlog(claims)))


@pytest.mark.rule("DB-DEFAULT-005")
def test_batches(drive, judge, claims):
    """With nothing set, a backlog leaves in batches of several requests"""
    judge(drive(NOTHING_SET, backlog(claims)))


@pytest.mark.rule("DB-DEFAULT-006")
def test_documented_delay(drive, judge):
    """With nothing set, a lone request waits no longer than the documented queue delay"""
    judge(drive(NOTHING_SET, (Send("first"), Answered(("first",)), Send("r0"))))
