"""Random schedules of requests: the laws hold after each call, and every text is right."""

from __future__ import annotations

import os
from collections import Counter
from random import Random

import pytest

from batchproof.suites.selftest.reference_batcher.continuous.checked import Checked, config_of, request_of

SHARDS = 8
SCHEDULES = 10_000


def run(seed: int) -> Checked:
    """Requests come, go and are aborted between any two calls."""
    draw = Random(seed)
    checked = Checked(config_of(draw))
    for number in range(draw.randint(1, 9)):
        checked.add(request_of(draw, f"r{number}"))
        for _ in range(draw.choice((0, 0, 0, 1, 3))):
            (checked.end if checked.flying else checked.begin)()
        if draw.random() < 0.15:
            checked.abort(f"r{draw.randint(0, number)}")
    checked.finish()
    return checked


@pytest.mark.parametrize("shard", range(SHARDS))
def test_the_laws_hold(shard: int) -> None:
    """10,000 schedules in all; a failure says which seed it was. What is worth trying has occurred in each shard."""
    nightly = bool(os.environ.get("BATCHPROOF_NIGHTLY"))
    seen: Counter[str] = Counter()
    for seed in range(shard, SCHEDULES * (5 if nightly else 1), SHARDS):
        try:
            checked = run(seed)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        gauges = checked.scheduler.gauges()
        seen.update(checked.ends.values())
        seen.update(name for name in ("preempted", "cached_tokens") if gauges[name])

    assert {"length", "stop", "abort", "preempted", "cached_tokens"} <= {name for name, times in seen.items() if times > 100}
