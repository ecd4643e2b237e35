"""Queue timeout: who is refused, who is not, and what never runs."""

import pytest

from batchproof.fixtures.script import MS, Answered, Entered, Queued, Release, Script, Send
from batchproof.reference_batcher import BatcherConfig

SHORT = BatcherConfig(max_batch_size=4, queue_timeout_ns=600 * MS)
LONG = BatcherConfig(max_batch_size=4, queue_timeout_ns=2000 * MS)


def expiring() -> Script:
    """`r0` waits behind a plug until it is refused; then `later` is queued and served."""
    plug = Send("plug", hold="gate"), Entered("plug")
    return (*plug, Send("r0"), Queued(1), Answered(("r0",)), Send("later", after_ns=1 * MS), Queued(1), Release("gate"))


@pytest.mark.rule("DB-TIMEOUT-001")
def test_expired_is_refused(drive, judge):
    """A request that waits longer than the queue timeout is refused"""
    judge(drive(SHORT, expiring()))


@pytest.mark.rule("DB-TIMEOUT-002")
def test_expired_never_runs(drive, judge):
    """A request that waited longer than the queue timeout is never executed"""
    judge(drive(SHORT, expiring()))


@pytest.mark.rule("DB-TIMEOUT-003")
def test_neighbours_unharmed(drive, judge):
    """An expired request does not harm its neighbours in the queue"""
    plug, r0 = (Send("plug", hold="gate"), Entered("plug")), (Send("r0"), Queued(1))
    while_it_waits = Send("later", after_ns=1600 * MS), Send("last", after_ns=700 * MS)

    judge(drive(LONG, (*plug, *r0, *while_it_waits, Release("gate"))))


@pytest.mark.rule("DB-TIMEOUT-004")
def test_in_time_is_served(drive, judge):
    """A request that has not waited longer than the queue timeout is not refused"""
    judge(drive(LONG, (Send("plug", hold="gate"), Entered("plug"), Send("r0"), Queued(1), Release("gate"))))


@pytest.mark.rule("DB-TIMEOUT-005")
def test_refused_while_busy(drive, judge):
    """An expired request is refused even while every instance is busy"""
    judge(drive(SHORT, expiring()))
