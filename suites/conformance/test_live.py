"""Liveness: no request is forgotten, and no instance is idle while a request is due."""

import pytest

from batchproof.fixtures.driving.script import MS, Close, Entered, Queued, Release, Send, arrivals, gated
from batchproof.reference_batcher import BatcherConfig

FOUR = BatcherConfig(max_batch_size=4)
FOUR_WITH_POLICY = BatcherConfig(max_batch_size=4, queue_timeout_ns=60_000 * MS)
TWO_INSTANCES = BatcherConfig(max_batch_size=4, instances=2)


@pytest.mark.rule("DB-LIVE-001")
def test_all_settled(drive, judge, seed):
    """Every accepted request is answered or refused"""
    judge(drive(FOUR, arrivals(seed(), count=60, mean_gap_ns=2 * MS, work_ns=10 * MS, fail_share=0.1)))


@pytest.mark.rule("DB-LIVE-002")
def test_no_idle_beside_work(drive, judge):
    """An instance does not stay idle while due work waits"""
    judge(drive(FOUR, gated(*(Send(f"r{i}", work_ns=20 * MS) for i in range(12)), in_order=False)))


@pytest.mark.rule("DB-LIVE-003")
def test_instances_in_parallel(drive, judge):
    """As many batches run at once as there are instances"""
    script = (Send("p0", hold="a"), Entered("p0"), Send("p1", hold="b"), Entered("p1"), Release("a"), Release("b"))

    judge(drive(TWO_INSTANCES, script))


@pytest.mark.rule("DB-LIVE-004")
def test_close_settles(drive, judge):
    """Closing the model answers or refuses every accepted request"""
    queued = tuple(Send(f"r{i}") for i in range(6))

    judge(drive(FOUR, (Send("plug", hold="gate"), Entered("plug"), *queued, Queued(6), Close(), Release("gate"))))


@pytest.mark.rule("DB-LIVE-005")
def test_no_idle_with_policy(drive, judge):
    """An instance does not stay idle while due work waits, even with a queue policy"""
    for _ in range(3):
        judge(drive(FOUR_WITH_POLICY, gated(*(Send(f"r{i}", work_ns=20 * MS) for i in range(12)), in_order=False)))
