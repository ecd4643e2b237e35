"""The strategy `direct`: a sequence keeps its instance and its place in the batch."""

import pytest

from batchproof.fixtures.driving.script import HOUR, MS, Answered, Send
from batchproof.suites.sequence.steps import WAITING, behind_plug, direct, groups, roomy, step, turn, whole

FOUR, TWO, PAIRS = direct(), direct(size=2), direct(size=2, instances=2)
HALVES = tuple(direct(size=size, delay_ns=HOUR, minimum_slot_utilization=0.5) for size in (4, 3))  # of three: two
SHORT = direct(size=4, delay_ns=150 * MS, minimum_slot_utilization=1.0)
HURRY = direct(size=4, delay_ns=HOUR)


@pytest.mark.rule("SB-DIRECT-001")
def test_same_instance(claims, drive, judge):
    """With direct, every request of a sequence runs in the same instance"""
    for config in roomy(claims, PAIRS):
        judge(drive(config, groups(claims, [5, 6, 7], 4)))


@pytest.mark.rule("SB-DIRECT-002")
def test_same_place(drive, judge):
    """With direct, a sequence keeps its place in the batch, also when other places are empty"""
    together = behind_plug(*(step(one, 0) for one in (5, 6, 7)))
    judge(drive(FOUR, (*together, *turn([7], 1), *turn([6], 1), *turn([7, 5], 2), *turn([5, 6, 7], 3, last=3))))


@pytest.mark.rule("SB-DIRECT-003")
def test_steps_share_a_batch(drive, judge):
    """With direct, requests of different sequences that wait for an instance run in one batch"""
    judge(drive(FOUR, (*turn([5, 6, 7], 0), *behind_plug(*(step(one, 1, last=1) for one in (5, 6, 7))))))


@pytest.mark.rule("SB-DIRECT-004")
def test_one_of_each(drive, judge):
    """With direct, a batch holds at most one request of a sequence"""
    sends = [step(5, 0), step(5, 1), step(6, 0), step(5, 2, last=2), step(6, 1, last=1)]
    judge(drive(FOUR, behind_plug(*sends)))


@pytest.mark.rule("SB-DIRECT-005")
def test_in_their_order(drive, judge):
    """With direct, requests of a sequence that wait run in the order in which they were sent"""
    judge(drive(FOUR, behind_plug(*whole(5, 5))))


@pytest.mark.rule("SB-DIRECT-006")
def test_no_more_than_slots(drive, judge):
    """With direct, a sequence that finds every slot taken does not run before another sequence has ended"""
    judge(drive(TWO, (*turn([5, 6], 0), *whole(7), *turn([5, 6], 1), *turn([5, 6], 2, last=2), Answered(("s7.0",)))))


@pytest.mark.rule("SB-DIRECT-007")
def test_backlog_in_order(drive, judge):
    """With direct, sequences that wait for a slot get one in the order in which they came"""
    waiting = [send for one in WAITING for send in whole(one)]
    judge(drive(direct(size=1), behind_plug(*waiting)))


@pytest.mark.rule("SB-DIRECT-008")
def test_free_slot_is_used(drive, judge):
    """With direct, a sequence that waits for a slot runs when one ends, although others stay open"""
    judge(drive(TWO, (*turn([5, 6], 0), *whole(7, 2)[:1], *turn([5], 1, last=1), Answered(("s7.0",)),
                      *turn([6], 1), *turn([7], 1, last=1), *turn([6], 2, last=2))))  # fmt: skip


@pytest.mark.rule("SB-DIRECT-009")
def test_minimum_utilisation_gathers(drive, judge):
    """With direct, requests wait until minimum_slot_utilization is met, and leave at once when it is"""
    opened = (*whole(5, 2)[:1], Send("s6.0", sequence=6, start=True, after_ns=60 * MS), Answered(("s5.0", "s6.0")))
    for config in HALVES:
        judge(drive(config, (*opened, *turn([5, 6], 1, last=1))))


@pytest.mark.rule("SB-DIRECT-010")
def test_minimum_utilisation_ends_with_the_delay(drive, judge):
    """With direct, a request that meets too little company leaves when its queue delay is over"""
    judge(drive(SHORT, (*turn([5], 0), *turn([5], 1, last=1))))


@pytest.mark.rule("SB-DIRECT-011")
def test_no_minimum_no_wait(drive, judge):
    """With direct and no minimum_slot_utilization, a lone request does not wait for the queue delay"""
    judge(drive(HURRY, (*turn([5], 0), *turn([5], 1, last=1))))
