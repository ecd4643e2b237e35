"""Live: who is served, and when a strategy begins and ends."""

import random

import pytest

from batchproof.fixtures.driving.script import MS, Close, Closed, Send
from batchproof.reference_batcher import BatcherConfig
from batchproof.suites.custom.scripts import LIMITED, backlog

OWN = BatcherConfig(max_batch_size=3, strategy="volume:96")  # no other rule has this model
BUSY = BatcherConfig(max_batch_size=8, max_queue_delay_ns=1 * MS, strategy="volume:96")


@pytest.mark.rule("CU-LIVE-001")
def test_refused_alone(drive, judge):
    """A request that a strategy refuses even alone is served, and holds up nobody"""
    judge(drive(LIMITED, backlog(16, 97, 16), policy=True))


@pytest.mark.rule("CU-LIVE-002")
def test_begun_once(drive, judge):
    """A strategy is begun once for a model, and ended once after its last batch"""
    judge(drive(OWN, (*backlog(64, 64, 64), Close(), Closed()), policy=True))


@pytest.mark.rule("CU-LIVE-003")
def test_any_traffic(drive, judge, seed):
    """With a strategy, every request of random traffic is executed and answered once"""
    draw = random.Random(seed())
    traffic = (
        Send(f"r{number}", rows=draw.randint(1, 3), volume=draw.choice((1, 8, 32, 64, 96)), work_ns=draw.randint(0, 2 * MS),
             after_ns=round(draw.expovariate(1 / MS)))
        for number in range(60)
    )  # fmt: skip
    judge(drive(BUSY, tuple(traffic)))
