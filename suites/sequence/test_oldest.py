"""The strategy `oldest`: a dynamic batcher picks from the next requests of the candidates."""

from dataclasses import replace

import pytest

from batchproof.fixtures.driving.script import HOUR, MS, Answered
from batchproof.suites.sequence.steps import PLUG, WAITING, behind_plug, groups, oldest, roomy, step, turn, turns, whole

THREE, TWO, ONE = oldest(), oldest(candidates=2), oldest(candidates=1)
PAIRS = oldest(size=2, candidates=2, instances=2)
PREFERRED = oldest(size=4, candidates=4, delay_ns=HOUR, preferred=(2,))
SHORT = oldest(size=4, candidates=4, delay_ns=150 * MS)
ROOMY = oldest(size=8, candidates=8, delay_ns=200 * MS)


@pytest.mark.rule("SB-OLDEST-001")
def test_same_instance(claims, drive, judge):
    """With oldest, every request of a sequence runs in the same instance"""
    for config in roomy(claims, PAIRS):
        judge(drive(config, groups(claims, [5, 6, 7], 4)))


@pytest.mark.rule("SB-OLDEST-002")
def test_one_at_a_time(drive, judge):
    """With oldest, a sequence has one request in the model at a time, in the order in which they were sent"""
    judge(drive(THREE, behind_plug(*whole(5, 4), *whole(6, 3))))


@pytest.mark.rule("SB-OLDEST-003")
def test_steps_share_a_batch(drive, judge):
    """With oldest, the next requests of several candidates run in one batch"""
    judge(drive(oldest(candidates=4), (*turn([5, 6, 7], 0), *behind_plug(*(step(one, 1, last=1) for one in (5, 6, 7))))))


@pytest.mark.rule("SB-OLDEST-004")
def test_no_more_than_candidates(drive, judge):
    """With oldest, no more sequences than max_candidate_sequences are under way"""
    judge(drive(TWO, (*turn([5, 6], 0), *whole(7), *turn([5, 6], 1), *turn([5, 6], 2, last=2), Answered(("s7.0",)))))


@pytest.mark.rule("SB-OLDEST-005")
def test_backlog_in_order(drive, judge):
    """With oldest, sequences that wait become candidates in the order in which they came"""
    judge(drive(ONE, behind_plug(*(send for one in WAITING for send in whole(one)))))


@pytest.mark.rule("SB-OLDEST-006")
def test_free_place_is_used(drive, judge):
    """With oldest, a sequence that waits becomes a candidate when one ends, although others stay open"""
    judge(drive(TWO, (*turn([5, 6], 0), *whole(7, 2)[:1], *turn([5], 1, last=1), Answered(("s7.0",)),
                      *turn([6], 1), *turn([7], 1, last=1), *turn([6], 2, last=2))))  # fmt: skip


@pytest.mark.rule("SB-OLDEST-007")
def test_preferred_size(drive, judge):
    """With oldest, a batch of a preferred size leaves at once, even with an hour of queue delay"""
    judge(drive(PREFERRED, turns([5, 6], 3)))


@pytest.mark.rule("SB-OLDEST-008")
def test_delay_is_kept(drive, judge):
    """With oldest, a lone request waits for the queue delay, and no longer"""
    judge(drive(SHORT, (*turn([5], 0), *turn([5], 1, last=1))))


@pytest.mark.rule("SB-OLDEST-009")
def test_the_oldest_goes_first(drive, judge):
    """With oldest, the request that has waited longest goes first, whichever candidate it is of"""
    backlog = [step(one, 1, last=1) for one in (7, 5, 8, 6, 11, 9, 10)]
    judge(drive(oldest(size=2, candidates=8), (*turn(range(5, 12), 0), *behind_plug(*backlog))))
    going = [step(one, 0 if one > 11 else 1) for one in (7, 5, 8, 6, 12, 11, 9, 13, 10)]  # two begin between the others
    over = turn((*range(5, 14), PLUG), 2, last=2)  # not before: whose slot is free is another matter
    judge(drive(oldest(size=2, candidates=10), (*turn(range(5, 12), 0), *behind_plug(*going, end=False), *over)))


@pytest.mark.rule("SB-OLDEST-010")
def test_newcomers_do_not_restart_the_delay(drive, judge):
    """With oldest, the queue delay counts from the oldest request, and sequences that begin do not restart it"""
    first, *others = (step(one, 0, last=0) for one in range(5, 11))
    late = tuple(replace(one, after_ns=ROOMY.max_queue_delay_ns * 2 // 5) for one in others)
    judge(drive(ROOMY, (first, *late)))
