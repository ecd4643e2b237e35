"""Requests of sequences that are cancelled while they wait."""

import pytest

from batchproof.fixtures.driving.script import MS, Answered, Cancel, Entered, Queued, Release, in_line
from batchproof.suites.sequence.steps import PLUG, claimed, direct, oldest, plug, step, turn
from batchproof.targets.claims import unmet, value_of

FOUR, OLDEST = direct(), oldest(candidates=4)
TWO, TWO_CANDIDATES = direct(size=2), oldest(size=2, candidates=2)
SECOND = direct(size=1, instances=2), oldest(size=1, candidates=1, instances=2)  # the plug's sequence has the first one
SEVERAL = "instances", "queue=shared|stealing"
IDLE_NS, STEPS = 400 * MS, 10
IDLE = direct(size=2, max_sequence_idle_ns=IDLE_NS), oldest(size=2, candidates=2, max_sequence_idle_ns=IDLE_NS)


GATHERS = direct(delay_ns=100 * MS, minimum_slot_utilization=1.0), oldest(candidates=4, delay_ns=100 * MS)


def staged():
    """Cancel a request that is not the first of its batch, which was formed behind a busy model when its delay was over."""
    queued = (*in_line(step(6, 1), step(5, 2)), step(7, 0, last=0, after_ns=300 * MS), Queued(3))
    after = (Answered(("s5.2",)), Release("gate"), Answered(("plug", "s6.1", "s7.0")))
    return (*turn([5, 6], 0), *turn([5], 1), *plug(), *queued, Cancel("s5.2"), *after, *turn([6], 2, last=2))


def cancelled():
    """Cancel the second of three requests that wait, as the next one may be staged; a sequence alongside it goes on."""
    queued = in_line(step(5, 1), step(5, 2), step(5, 3), step(6, 1))
    after = (Answered(("s5.2",)), Release("gate"), Answered(("plug", "s5.1", "s5.3", "s6.1")))
    return (*turn([5, 6], 0), *plug(), *queued, Cancel("s5.2"), *after, *turn([6], 2, last=2))


@pytest.mark.rule("SB-CANCEL-001")
def test_it_is_not_executed(claims, drive, judge):
    """A request of a sequence that is cancelled while it waits is never executed"""
    for config in claimed(claims, FOUR, OLDEST):
        judge(drive(config, cancelled()))
    for config in claimed(claims, *GATHERS) if not (value_of(claims, "late_binding") or unmet(claims, ("delay",))) else ():
        judge(drive(config, staged()))


@pytest.mark.rule("SB-CANCEL-002")
def test_the_rest_is_refused(claims, drive, judge):
    """When a request of a sequence is cancelled, those that wait behind it are refused and never executed"""
    for config in claimed(claims, FOUR, OLDEST):
        judge(drive(config, cancelled()))


@pytest.mark.rule("SB-CANCEL-003")
def test_others_go_on(claims, drive, judge):
    """Other sequences go on when a request of one is cancelled"""
    for config in claimed(claims, FOUR, OLDEST):
        judge(drive(config, cancelled()))


@pytest.mark.rule("SB-CANCEL-004")
def test_the_slot_is_free(claims, drive, judge):
    """The slot of a sequence whose request was cancelled goes to one that waits"""
    held, after = plug(end=False), step(PLUG, 1, last=1)
    for config in claimed(claims, TWO, TWO_CANDIDATES):
        gone = (Cancel("s5.1"), Answered(("s5.1",)), Release("gate"), Answered(("plug", "s5.0", "s7.0")))
        for last in (-1, 1):  # with its END, or before that
            queued = in_line(step(5, 0), step(5, 1, last=last), step(7, 0, last=0))
            judge(drive(config, (*held, *queued, *gone, after, Answered((after.name,)))))
    for config in claimed(claims, *SECOND) if not unmet(claims, SEVERAL) else ():
        own = (step(5, 0, hold="own"), Entered("s5.0"), *in_line(step(5, 1), step(7, 0, last=0)))
        gone = (Cancel("s5.1"), Answered(("s5.1",)), Release("own"), Answered(("s5.0", "s7.0")), Release("gate"))
        judge(drive(config, (*held, *own, *gone, Answered(("plug",)), after, Answered((after.name,)))))


@pytest.mark.rule("SB-CANCEL-005")
def test_before_the_first_request(drive, judge):
    """With direct, the slot of a sequence that is cancelled before its first request has run goes to one that waits"""
    held, after = plug(end=False), step(PLUG, 1, last=1)
    queued = in_line(step(5, 0), step(7, 0, last=0))
    gone = (Cancel("s5.0"), Answered(("s5.0",)), Release("gate"), Answered(("plug", "s7.0")))
    judge(drive(TWO, (*held, *queued, *gone, after, Answered((after.name,)))))


@pytest.mark.rule("SB-CANCEL-006")
def test_free_once(claims, drive, judge):
    """The slot of a cancelled sequence is not given away again when the sequence would have been idle for too long"""
    behind_itself = (step(5, 1, hold="gate"), Entered("s5.1"), step(5, 2), Queued(1), Cancel("s5.2"))
    behind_another = (*plug(), *in_line(step(5, 1), step(5, 2)), Cancel("s5.2"))  # the first of them may be staged
    alone = (*turn([5], 1), *plug(), *in_line(step(5, 2)), Cancel("s5.2"))  # nothing else of it is under way
    waits = step(7, 0, last=0)
    going = [(*turn([6], k, last=STEPS - 1, after_ns=IDLE_NS // 4), *turn([8], k, last=STEPS - 1)) for k in range(1, STEPS)]
    for config in claimed(claims, *IDLE):
        late = config.sequence.strategy == "direct" and value_of(claims, "late_binding")
        other = (alone, ("plug",)) if late else (behind_another, ("plug", "s5.1"))
        for held, names in ((behind_itself, ("s5.1",)), other):
            gone = (*turn([5], 0), *held, Answered(("s5.2",)), Release("gate"), Answered(names))
            goes_on = (*turn([6, 8], 0), waits, *(one for steps in going for one in steps), Answered((waits.name,)))
            judge(drive(config, (*gone, *goes_on)))
