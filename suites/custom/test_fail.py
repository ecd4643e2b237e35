"""Fail: what becomes of requests when a hook raises, or is slow."""

import pytest

from batchproof.fixtures.driving.script import MS, Answered, Send, trickle
from batchproof.reference_batcher import BatcherConfig
from batchproof.suites.custom.scripts import backlog

ONCE = BatcherConfig(max_batch_size=4, strategy="raises-once:7")
ALWAYS = BatcherConfig(max_batch_size=4, strategy="raises:7")
SLOW = BatcherConfig(max_batch_size=4, strategy="slow:20")


@pytest.mark.rule("CU-FAIL-001")
def test_one_batch_at_most(drive, judge):
    """A hook that raises harms one batch at most"""
    judge(drive(ONCE, (*backlog(1, 1, 7, 1, 1, 1), Answered(("r5",)), Send("later")), policy=True))


@pytest.mark.rule("CU-FAIL-002")
def test_told(drive, judge):
    """What a hook raises is reported"""
    judge(drive(ALWAYS, backlog(1, 7, 1), policy=True))


@pytest.mark.rule("CU-FAIL-003")
def test_slow(drive, judge):
    """While hooks are slow, no request is lost or executed twice"""
    judge(drive(SLOW, trickle(12, 5 * MS)))


@pytest.mark.rule("CU-FAIL-004")
def test_always(drive, judge):
    """A request for which a hook always raises is answered or fails, and holds up nobody"""
    judge(drive(ALWAYS, backlog(7, 1, 1), policy=True))
