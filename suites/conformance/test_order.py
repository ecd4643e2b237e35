"""Ordering: into batches, and back to the clients."""

import pytest

from batchproof.fixtures.script import MS, Send, gated
from batchproof.reference_batcher import BatcherConfig

FOUR = BatcherConfig(max_batch_size=4)


@pytest.mark.rule("DB-ORDER-001")
def test_first_come_first_served(drive, judge):
    """Requests enter batches in the order in which they were queued"""
    judge(drive(FOUR, gated(*(Send(f"r{i}") for i in range(12)))))


@pytest.mark.rule("DB-ORDER-002")
def test_answered_in_order(drive, judge):
    """With one instance the batches are answered in the order in which they ran"""
    judge(drive(FOUR, gated(*(Send(f"r{i}", work_ns=60 * MS) for i in range(12)), in_order=False)))
