"""Queue timeout: who is refused, who is not, and what never runs."""

import pytest

from batchproof.fixtures.script import MS, Answered, Entered, Queued, Release, Script, Send
from batchproof.reference_batcher import BatcherConfig

SHORT = BatcherConfig(max_batch_size=4, queue_timeout_ns=300 * MS)
LONG = BatcherConfig(max_batch_size=4, queue_timeout_ns=2000 * MS)


def expiring(later_after_ns: int = 0) -> Script:
    """`r0` waits behind a plug until it is refused; `later` is queued, before that or after, and served."""
    plug = Send("plug", hold="gate"), Entered("plug")
    r0, later, refused = Send("r0"), Send("later", after_ns=later_after_ns), Answered(("r0",))
    middle = (r0, Queued(1), later, refused) if later_after_ns else (r0, Queued(1), refused, later, Queued(1))
    return (*plug, *middle, Release("gate"))


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
    judge(drive(LONG, expiring(later_after_ns=1600 * MS)))


@pytest.mark.rule("DB-TIMEOUT-004")
def test_in_time_is_served(drive, judge):
    """A request that has not waited longer than the queue timeout is not refused"""
    judge(drive(LONG, (Send("plug", hold="gate"), Entered("plug"), Send("r0"), Queued(1), Release("gate"))))
