"""Errors: the status and the message with which a request is refused."""

import pytest

from batchproof.fixtures.driving.script import MS, Answered, Close, Closed, Send, gated, in_line, plugged
from batchproof.reference_batcher import BatcherConfig

FOUR = BatcherConfig(max_batch_size=4)
LIMITED = BatcherConfig(max_batch_size=4, max_queue_size=3)
SHORT = BatcherConfig(max_batch_size=4, queue_timeout_ns=600 * MS)
BOTH = BatcherConfig(max_batch_size=4, queue_timeout_ns=600 * MS, max_queue_size=1)


@pytest.mark.rule("DB-ERROR-001")
def test_full_is_unavailable(drive, judge):
    """A request that finds the queue full is refused as UNAVAILABLE or RESOURCE_EXHAUSTED (HTTP 503 or 429)"""
    line = in_line(*(Send(f"r{i}") for i in range(3)))

    judge(drive(LIMITED, plugged(*line, Send("r3"), Answered(("r3",)))))


@pytest.mark.rule("DB-ERROR-002")
def test_expired_is_unavailable(drive, judge):
    """A request whose queue timeout is over is refused as UNAVAILABLE or DEADLINE_EXCEEDED (HTTP 503 or 504)"""
    judge(drive(SHORT, plugged(Send("r0"), Answered(("r0",)))))


@pytest.mark.rule("DB-ERROR-003")
def test_oversize_is_invalid(drive, judge):
    """A request with more rows than max_batch_size is refused as INVALID_ARGUMENT (HTTP 400)"""
    judge(drive(FOUR, (Send("big", rows=5),)))


@pytest.mark.rule("DB-ERROR-004")
def test_failure_is_internal(drive, judge):
    """A batch that raises fails as INTERNAL (HTTP 500), with the model's own message"""
    judge(drive(FOUR, gated(Send("r0", fail=True), Send("r1"), in_order=False)))


@pytest.mark.rule("DB-ERROR-005")
def test_closed_is_refused(drive, judge):
    """A request to a removed model is refused as UNAVAILABLE or NOT_FOUND (HTTP 503 or 404)"""
    judge(drive(FOUR, (Send("before"), Answered(("before",)), Close(), Closed(), Send("late"))))


@pytest.mark.rule("DB-ERROR-006")
def test_says_which(drive, judge):
    """The refusals of a full queue and of an expired request say which of the two it was"""
    judge(drive(BOTH, plugged(*in_line(Send("r0")), Send("r1"), Answered(("r0", "r1")))))
