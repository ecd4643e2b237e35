"""Sequences that wait for a slot for too long."""

import pytest

from batchproof.fixtures.driving.script import MS, Answered, Entered, Queued, Release
from batchproof.suites.sequence.steps import claimed, direct, oldest, step, turn

ONE, ONE_CANDIDATE = direct(size=1), oldest(candidates=1)
TIMEOUT_NS = 400 * MS


@pytest.mark.rule("SB-TIMEOUT-001")
def test_it_is_refused(claims, drive, judge):
    """A sequence that waits for a slot for longer than its request's timeout is refused and never executed"""
    for config in claimed(claims, ONE, ONE_CANDIDATE):
        held = (*turn([5], 0), step(5, 1, hold="gate"), Entered("s5.1"))
        waits = step(5, 2, timeout_ns=TIMEOUT_NS)  # for the model: its sequence has a slot
        late = step(6, 0, last=0, timeout_ns=TIMEOUT_NS)
        expired = (waits, Queued(1), late, Answered((late.name,)), Release("gate"), Answered(("s5.1", "s5.2")))
        judge(drive(config, (*held, *expired, *turn([5], 3, last=3))))


@pytest.mark.rule("SB-TIMEOUT-002")
def test_all_of_it(claims, drive, judge):
    """When a request of a sequence that waits for a slot is late, the whole sequence is refused"""
    for config in claimed(claims, ONE, ONE_CANDIDATE):
        late = (step(6, 0, timeout_ns=TIMEOUT_NS), Queued(1), step(6, 1, last=1), Answered(("s6.0", "s6.1")))
        judge(drive(config, (*turn([5], 0), *late, *turn([5], 1, last=1))))
        behind = (step(6, 0), Queued(1), step(6, 1, last=1, timeout_ns=TIMEOUT_NS // 2), Answered(("s6.0", "s6.1")))
        judge(drive(config, (*turn([5], 0), *behind, *turn([5], 1, last=1))))
