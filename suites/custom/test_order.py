"""Order: who comes next when a strategy refuses somebody."""

import pytest

from batchproof.suites.custom.scripts import LIMITED, backlog


@pytest.mark.rule("CU-ORDER-001")
def test_next_batch(drive, judge):
    """A request that is refused company begins the next batch, and nobody overtakes it"""
    judge(drive(LIMITED, backlog(64, 64, 16, 16, 32, 80, 8), policy=True))


@pytest.mark.rule("CU-ORDER-002")
def test_asked_in_order(drive, judge):
    """The strategy is asked about the requests of a batch in the order of the queue"""
    judge(drive(LIMITED, backlog(64, 64, 16, 16, 32, 80, 8), policy=True))
