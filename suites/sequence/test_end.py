"""Where a sequence ends and the next one begins."""

from dataclasses import replace

import pytest

from batchproof.fixtures.driving.script import Answered, Entered, Queued, Release, Send
from batchproof.suites.sequence.steps import claimed, direct, oldest, step, turn, turns, whole

DIRECT, OLDEST = direct(), oldest()


@pytest.mark.rule("SB-END-001")
def test_an_id_is_used_again(claims, drive, judge):
    """After END, a START under the same correlation ID begins a sequence that knows nothing of the first"""
    again = (*turn([5, 6], 0), *turn([5, 6], 1, last=1))
    for config in claimed(claims, DIRECT, OLDEST):
        judge(drive(config, (*again, *_named_anew(again))))


@pytest.mark.rule("SB-END-002")
def test_start_on_a_live_id(claims, drive, judge):
    """A START under the correlation ID of a sequence that has not ended begins a new sequence"""
    for config in claimed(claims, direct(size=2), oldest(size=2, candidates=2)):  # so that the first one's place is needed
        old = (*turn([5, 6], 0), *turn([5, 6], 1))
        judge(drive(config, (*old, *_named_anew(turn([5], 0)), *turn([6], 2, last=2), *_named_anew(turn([5], 1, last=1)))))


@pytest.mark.rule("SB-END-003")
def test_a_failed_end(claims, drive, judge):
    """A sequence whose last request fails is over, and its slot is free"""
    for config in claimed(claims, direct(size=1), oldest(size=1, candidates=1)):
        ends = [one for number in (5, 6) for one in (*turn([number], 0), *turn([number], 1, last=1, fail=True))]
        single = (*whole(7, fail=True), Answered(("s7.0",)))
        judge(drive(config, (*ends, *single, *turns([8], 2))))


@pytest.mark.rule("SB-END-004")
def test_begun_behind_an_end(claims, drive, judge):
    """A sequence that begins while the last request of another under its ID is in the model goes on after that"""
    old = (*turn([5], 0), step(5, 1, last=1, hold="gate"), Entered("s5.1"))
    begun = (*_named_anew((step(5, 0),)), Queued(1), Release("gate"), Answered(("s5.1", "again-s5.0")))
    for config in claimed(claims, direct(size=2), oldest(size=2, candidates=2)):
        judge(drive(config, (*old, *begun, *_named_anew((*turn([5], 1), *turn([5], 2, last=2))))))


def _named_anew(steps):
    """Return the same steps with the names of a second sequence of the same correlation ID."""
    def again(one):
        if isinstance(one, Send):
            return Send(f"again-{one.name}", one.payload)
        return replace(one, names=tuple(f"again-{name}" for name in one.names)) if isinstance(one, Answered) else one

    return tuple(map(again, steps))
