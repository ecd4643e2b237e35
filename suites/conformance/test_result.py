"""Results: each request gets its own, and is executed once."""

import pytest

from batchproof.fixtures.driving.script import MS, Answered, Entered, Release, Send, arrivals, gated, in_line
from batchproof.reference_batcher import BatcherConfig

EIGHT = BatcherConfig(max_batch_size=8)
SIXTEEN = BatcherConfig(max_batch_size=16)
THREE_INSTANCES = BatcherConfig(max_batch_size=4, instances=3)


@pytest.mark.rule("DB-RESULT-001")
def test_own_result(drive, judge, seed):
    """Every answer carries the result of its own request"""
    judge(drive(EIGHT, gated(*(Send(f"r{i}") for i in range(16)), in_order=False), gather=True))

    judge(drive(EIGHT, arrivals(seed(), count=60, mean_gap_ns=1 * MS, work_ns=5 * MS)))


@pytest.mark.rule("DB-RESULT-002")
def test_exactly_once(drive, judge, seed):
    """Every answered request was executed exactly once"""
    judge(drive(EIGHT, arrivals(seed(), count=60, mean_gap_ns=1 * MS, work_ns=5 * MS)))


@pytest.mark.rule("DB-RESULT-003")
def test_one_result_each(drive, judge):
    """Each request of a batch gets one result, which is as long as the request"""
    judge(drive(EIGHT, gated(*(Send(f"r{i}") for i in range(13)), in_order=False), gather=True))


@pytest.mark.rule("DB-RESULT-004")
def test_parts_in_order(drive, judge):
    """A request that is split over batches gets all of its rows in order, whichever of its parts ends first"""
    for rows in (3, 11):  # one that would fill a batch by itself may have one of its own
        held = [step for i in range(3) for step in (Send(f"p{i}", hold=f"p{i}"), Entered(f"p{i}"))]
        line = in_line(Send("slow", rows=2, work_ns=300 * MS), Send("large", rows=rows))
        judge(drive(THREE_INSTANCES, (*held, *line, *(Release(f"p{i}") for i in range(3)))))


@pytest.mark.rule("DB-RESULT-005")
def test_too_few_results(drive, judge):
    """If a batch comes back with a result too few, nobody gets another's result or waits for ever"""
    few = [Send(f"few{i}", short=i < 2) for i in range(16)]  # two ask for it, because the first may have to leave alone
    judge(drive(SIXTEEN, gated(*few, *(Send(f"r{i}") for i in range(8)), in_order=False), gather=True))

    afterwards = Answered(("few0", "few1", "few2")), Send("r0"), Answered(("r0",)), Send("r1")
    judge(drive(EIGHT, (*gated(*few[:3]), *afterwards), gather=True))
