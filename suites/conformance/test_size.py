"""Size: how many rows a batch holds."""

import pytest

from batchproof.fixtures.driving.script import MS, Send, arrivals, gated, lone
from batchproof.reference_batcher import BatcherConfig

FOUR = BatcherConfig(max_batch_size=4)
FOUR_SOON = BatcherConfig(max_batch_size=4, max_queue_delay_ns=50 * MS)
FOUR_DELAYED = BatcherConfig(max_batch_size=4, max_queue_delay_ns=1 * MS)


@pytest.mark.rule("DB-SIZE-001")
def test_no_batch_above_the_limit(drive, judge, seed):
    """No batch holds more rows than max_batch_size"""
    behind_a_plug = gated(*(Send(f"r{i}") for i in range(10)), in_order=False)
    judge(drive(FOUR, behind_a_plug, gather=True))

    judge(drive(FOUR, arrivals(seed(), count=40, mean_gap_ns=1 * MS, work_ns=10 * MS)))


@pytest.mark.rule("DB-SIZE-002")
def test_backlog_fills_batches(drive, judge):
    """A backlog leaves in full batches"""
    judge(drive(FOUR, gated(*(Send(f"r{i}") for i in range(12)))))


@pytest.mark.rule("DB-SIZE-003")
def test_oversize_is_refused(drive, judge):
    """A request with more rows than max_batch_size is refused and never executed"""
    judge(drive(FOUR, (Send("big", rows=5), Send("after"))))


@pytest.mark.rule("DB-SIZE-004")
def test_refusal_names_the_limit(drive, judge):
    """The refusal of an oversize request names the limit"""
    judge(drive(FOUR, (Send("big", rows=9),)))


@pytest.mark.rule("DB-SIZE-005")
def test_rows_stay_together(drive, judge):
    """The rows of one request stay together in one batch"""
    sizes = (3, 2, 3, 1, 2, 2, 3, 3)
    judge(drive(FOUR, gated(*(Send(f"r{i}", rows=rows) for i, rows in enumerate(sizes)))))


@pytest.mark.rule("DB-SIZE-006")
def test_the_limit_itself(drive, judge):
    """A request of exactly max_batch_size rows is served"""
    judge(drive(FOUR, (Send("exact", rows=4), *lone())))


@pytest.mark.rule("DB-SIZE-007")
def test_rows_are_counted(drive, judge, seed):
    """max_batch_size counts rows, not requests"""
    judge(drive(FOUR, gated(*(Send(f"r{i}", rows=rows) for i, rows in enumerate((3, 3, 1, 1))), in_order=False)))

    judge(drive(FOUR, arrivals(seed(), count=40, mean_gap_ns=1 * MS, max_rows=4, work_ns=10 * MS)))


@pytest.mark.rule("DB-SIZE-008")
def test_delayed_backlog_fills_batches(drive, judge):
    """A backlog leaves in full batches, even with a queue delay"""
    pause = {5: 50 * MS}

    judge(drive(FOUR_DELAYED, gated(*(Send(f"r{i}", after_ns=pause.get(i, 0)) for i in range(12)))))


@pytest.mark.rule("DB-SIZE-009")
def test_closed_by_an_instance(drive, judge):
    """Behind a busy model, a batch takes in requests that come after its queue delay is over"""
    judge(drive(FOUR_SOON, gated(*(Send(f"r{i}", after_ns=150 * MS if i else 0) for i in range(4)))))
