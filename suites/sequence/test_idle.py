"""Sequences that nobody sends anything to."""

import pytest

from batchproof.fixtures.driving.script import MS, Answered, Entered
from batchproof.suites.sequence.steps import claimed, direct, oldest, step, turn, whole

IDLE_NS = 400 * MS
SECOND_NS = 1_000 * MS  # so long that a busy host can send eight requests in the last part of it
MANY = direct(size=8, max_sequence_idle_ns=SECOND_NS), oldest(size=8, candidates=8, max_sequence_idle_ns=SECOND_NS)


def one_slot(number):
    """Return models of its own for one rule, so that rules that wait can be judged at the same time: a ms more for each."""
    idle_ns = IDLE_NS + number * MS
    return direct(size=1, max_sequence_idle_ns=idle_ns), oldest(candidates=1, max_sequence_idle_ns=idle_ns)


def two_slots(number):
    """Return the same with two slots."""
    idle_ns = IDLE_NS + number * MS
    return direct(size=2, max_sequence_idle_ns=idle_ns), oldest(candidates=2, max_sequence_idle_ns=idle_ns)


def side_by_side(number):
    """Return the same with four slots."""
    idle_ns = IDLE_NS + number * MS
    return direct(max_sequence_idle_ns=idle_ns), oldest(candidates=4, max_sequence_idle_ns=idle_ns)


@pytest.mark.rule("SB-IDLE-001")
def test_idle_is_over(claims, drive, judge):
    """A sequence that was idle for longer than max_sequence_idle is over: its next request needs START"""
    busy = [one for number in range(1, 13) for one in turn([7], number, last=12, after_ns=IDLE_NS // 4)]  # beside it
    for config in claimed(claims, *two_slots(1)):
        late = step(5, 1)
        judge(drive(config, (*turn([5, 7], 0), *busy, late, Answered((late.name,)), *turn([6], 0, last=0))))


@pytest.mark.rule("SB-IDLE-002")
def test_idle_frees_the_slot(claims, drive, judge):
    """The slot of a sequence that was idle for longer than max_sequence_idle goes to one that waits"""
    for config in claimed(claims, *one_slot(2)):
        judge(drive(config, (*turn([5], 0), *whole(6), Answered(("s6.0",)))))


@pytest.mark.rule("SB-IDLE-003")
def test_not_idle_yet(claims, drive, judge):
    """A sequence keeps its slot until it was idle for max_sequence_idle"""
    for config in claimed(claims, *one_slot(3)):
        judge(drive(config, (*turn([5], 0), *whole(6), Answered(("s6.0",)))))


@pytest.mark.rule("SB-IDLE-004")
def test_each_request_counts(claims, drive, judge):
    """A sequence whose requests come more often than max_sequence_idle does not end"""
    steps = [one for k in range(8) for one in turn([5], k, last=7, after_ns=IDLE_NS // 4 if k else 0)]
    for config in claimed(claims, *one_slot(4)):
        judge(drive(config, tuple(steps)))


@pytest.mark.rule("SB-IDLE-005")
def test_in_the_model(claims, drive, judge):
    """A sequence is not idle while its request is in the model"""
    for config in claimed(claims, *one_slot(5)):
        judge(drive(config, (*turn([5], 0, work_ns=2 * IDLE_NS), *turn([5], 1, last=1))))


@pytest.mark.rule("SB-IDLE-006")
def test_what_waits_is_not_idle(claims, drive, judge):
    """A sequence is not idle while its request waits for a busy instance"""
    for config in claimed(claims, *side_by_side(6)):
        busy = step(6, 0, last=0, work_ns=2 * IDLE_NS)
        waits = (busy, Entered(busy.name), step(5, 1), Answered((busy.name, "s5.1")))
        judge(drive(config, (*turn([5], 0), *waits, *turn([5], 2, last=2))))
    for config in claimed(claims, *one_slot(6)):  # nor is one that waits in line for a slot
        going = [one for k in range(1, 9) for one in turn([6], k, last=9, after_ns=IDLE_NS // 4)]
        rest = (step(8, 1, last=1), step(6, 9, last=9), Answered(("s6.9", "s8.0", "s8.1")))
        judge(drive(config, (*turn([6], 0), step(8, 0), *going, *rest)))


@pytest.mark.rule("SB-IDLE-007")
def test_neighbours_go_on(claims, drive, judge):
    """A sequence that is idle for too long takes no other along"""
    going = [one for k in range(1, 9) for one in turn([5], k, last=8, after_ns=IDLE_NS // 4)]
    for config in claimed(claims, *side_by_side(7)):
        judge(drive(config, (*turn([6, 7, 5], 0), *going)))


@pytest.mark.rule("SB-IDLE-008")
def test_however_many(claims, drive, judge):
    """The idle time after which a sequence ends does not depend on how many are open"""
    ids, pause_ns = range(1, 9), SECOND_NS * 6 // 10
    later = [
        (step(ids[0], k, last=2, after_ns=pause_ns), *turn(ids[1:], k, last=2), Answered((f"s{ids[0]}.{k}",)))
        for k in (1, 2)
    ]
    for config in claimed(claims, *MANY):
        judge(drive(config, (*turn(ids, 0), *(one for steps in later for one in steps))))
