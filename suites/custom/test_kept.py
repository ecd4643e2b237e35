"""Kept: what holds with a strategy as it does without one."""

import pytest

from batchproof.fixtures.driving.script import HOUR, MS, Answered, Queued, Send, gated
from batchproof.reference_batcher import BatcherConfig
from batchproof.suites.custom.scripts import backlog

WIDE = BatcherConfig(max_batch_size=4, strategy="volume:1000000")
DELAYED = BatcherConfig(max_batch_size=8, max_queue_delay_ns=200 * MS, strategy="volume:96")
PATIENT = BatcherConfig(max_batch_size=8, max_queue_delay_ns=HOUR, strategy="volume:96")
LEVELS = BatcherConfig(max_batch_size=8, priority_levels=2, default_priority_level=2, strategy="volume:96")


@pytest.mark.rule("CU-KEPT-001")
def test_size(drive, judge):
    """No batch exceeds max_batch_size, even if its strategy would let more requests join"""
    judge(drive(WIDE, backlog(*[1] * 9), policy=True))


@pytest.mark.rule("CU-KEPT-002")
def test_delay(drive, judge):
    """With a strategy, a batch that can grow leaves when its queue delay is over, and not before"""
    judge(drive(DELAYED, (Send("r0", volume=32), Send("r1", volume=32))))


@pytest.mark.rule("CU-KEPT-003")
def test_refused_sends(drive, judge):
    """A request that is refused company sends the batch before it at once, even with an hour of queue delay"""
    refused = Send("r0", volume=64), Queued(1), Send("r1", volume=64, after_ns=300 * MS), Answered(("r0",))

    judge(drive(PATIENT, (*refused, *(Send(f"more{number}") for number in range(7)))))


@pytest.mark.rule("CU-KEPT-004")
def test_priorities(drive, judge):
    """With a strategy, requests of a more urgent level are served first, in their order"""
    asked = ((64, 2), (64, 2), (16, 2), (64, 1), (48, 1), (16, 1))  # the first two share no batch
    queued = (Send(f"r{at}", volume=volume, priority=level) for at, (volume, level) in enumerate(asked))

    judge(drive(LEVELS, gated(*queued)))
