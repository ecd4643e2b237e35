"""Sequences that nobody sends anything to."""

import pytest

from batchproof.fixtures.driving.script import MS, Answered
from batchproof.suites.sequence.steps import claimed, direct, oldest, step, turn, whole

IDLE_NS = 400 * MS
ONE, ONE_CANDIDATE = direct(size=1, max_sequence_idle_ns=IDLE_NS), oldest(candidates=1, max_sequence_idle_ns=IDLE_NS)


@pytest.mark.rule("SB-IDLE-001")
def test_idle_is_over(session, drive, judge):
    """A sequence that was idle for longer than max_sequence_idle is over: its next request needs START"""
    for config in claimed(session, ONE, ONE_CANDIDATE):
        late = step(5, 1, after_ns=3 * IDLE_NS)
        judge(drive(config, (*turn([5], 0), late, Answered((late.name,)), *turn([6], 0, last=0))))


@pytest.mark.rule("SB-IDLE-002")
def test_idle_frees_the_slot(session, drive, judge):
    """The slot of a sequence that was idle for longer than max_sequence_idle goes to one that waits"""
    for config in claimed(session, ONE, ONE_CANDIDATE):
        judge(drive(config, (*turn([5], 0), *whole(6), Answered(("s6.0",)))))


@pytest.mark.rule("SB-IDLE-003")
def test_not_idle_yet(session, drive, judge):
    """A sequence keeps its slot until it was idle for max_sequence_idle"""
    for config in claimed(session, ONE, ONE_CANDIDATE):
        judge(drive(config, (*turn([5], 0), *whole(6), Answered(("s6.0",)))))


@pytest.mark.rule("SB-IDLE-004")
def test_each_request_counts(session, drive, judge):
    """A sequence whose requests come more often than max_sequence_idle does not end"""
    steps = [one for k in range(8) for one in turn([5], k, last=7, after_ns=IDLE_NS // 4 if k else 0)]
    for config in claimed(session, ONE, ONE_CANDIDATE):
        judge(drive(config, tuple(steps)))


@pytest.mark.rule("SB-IDLE-005")
def test_in_the_model(session, drive, judge):
    """A sequence is not idle while its request is in the model"""
    for config in claimed(session, ONE, ONE_CANDIDATE):
        judge(drive(config, (*turn([5], 0, work_ns=2 * IDLE_NS), *turn([5], 1, last=1))))
