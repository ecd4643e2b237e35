"""Queue delay: its floor, its ceiling, what starts it and what ends it."""

import pytest

from batchproof.fixtures.driving.script import HOUR, MS, Answered, Entered, Send, burst, lone, trickle
from batchproof.reference_batcher import BatcherConfig

DELAY = 200 * MS
DELAYED = BatcherConfig(max_batch_size=8, max_queue_delay_ns=DELAY)


@pytest.mark.rule("DB-DELAY-001")
def test_floor(drive, judge):
    """A lone request is not executed before the queue delay is over"""
    one_by_one = [(Send(f"r{i}", after_ns=37 * MS * i), Answered((f"r{i}",))) for i in range(4)]

    judge(drive(DELAYED, tuple(step for pair in one_by_one for step in pair)))


@pytest.mark.rule("DB-DELAY-002")
def test_ceiling(drive, judge):
    """A lone request is not held longer than the queue delay"""
    judge(drive(DELAYED, lone()))


@pytest.mark.rule("DB-DELAY-003")
def test_full_batch_leaves_at_once(drive, judge):
    """A full batch leaves at once, even with an hour of queue delay"""
    judge(drive(BatcherConfig(max_batch_size=4, max_queue_delay_ns=HOUR), burst(4)))


@pytest.mark.rule("DB-DELAY-004")
def test_waiting_for_an_instance_counts(drive, judge):
    """Time spent waiting for a busy instance counts towards the queue delay"""
    judge(drive(DELAYED, (Send("plug", work_ns=2 * DELAY), Entered("plug"), Send("r0"))))


@pytest.mark.rule("DB-DELAY-005")
def test_newcomers_do_not_rearm(drive, judge):
    """The delay counts from the oldest request, and new requests do not restart it"""
    judge(drive(DELAYED, trickle(6, every_ns=DELAY * 2 // 5)))


@pytest.mark.rule("DB-DELAY-006")
def test_leaves_as_it_is(drive, judge):
    """When the delay is over, the batch leaves with everything that is queued"""
    judge(drive(DELAYED, burst(3)))


@pytest.mark.rule("DB-DELAY-007")
def test_zero_never_waits(drive, judge):
    """With a queue delay of 0, a lone request does not wait"""
    judge(drive(BatcherConfig(max_batch_size=4), lone()))
