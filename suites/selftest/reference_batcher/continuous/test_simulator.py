"""The simulated engine: times are exact, and its iterations are the scheduler's."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.reference_batcher.continuous.simulator import NEVER, simulate
from batchproof.suites.selftest.reference_batcher.continuous.checked import config_of

CONFIG = EngineConfig(max_num_seqs=2, max_num_batched_tokens=8, block_size=4, num_blocks=16, max_model_len=32)


def test_a_request_alone() -> None:
    """A prompt of ten tokens takes two iterations; each token after the first takes tau0 + tau1."""
    ran = simulate(CONFIG, [5], [10], [3], 100, 10)

    assert ran.token_ns[0].tolist() == [5 + 180 + 120, 5 + 300 + 110, 5 + 300 + 220]
    assert (ran.ttft_ns.tolist(), ran.itl_ns.tolist(), ran.e2e_ns.tolist()) == ([300], [110, 110], [520])
    assert (ran.enter_ns.tolist(), ran.exit_ns.tolist()) == ([5, 185, 305, 415], [185, 305, 415, 525])
    assert (ran.tokens.tolist(), ran.rows.tolist()) == ([8, 2, 1, 1], [1, 1, 1, 1])


def test_who_arrives_when_an_iteration_ends_is_in_the_next() -> None:
    """One nanosecond later it waits for the one after that."""
    first = simulate(CONFIG, [0, 140], [4, 4], [4, 1], 100, 10)
    later = simulate(CONFIG, [0, 141], [4, 4], [4, 1], 100, 10)

    assert first.token_ns[1].tolist() == [140 + 100 + 50]
    assert later.token_ns[1].tolist() == [140 + 110 + 150]
    assert later.ttft_ns.tolist() == [140, 400 - 141]


def test_an_idle_engine_waits_for_the_next_request() -> None:
    """No iteration is empty."""
    ran = simulate(CONFIG, [0, 1_000_000], [4, 4], [1, 1], 100, 10)

    assert ran.enter_ns.tolist() == [0, 1_000_000]


def test_refused_requests_have_no_times() -> None:
    """The others are served as if they had not come."""
    ran = simulate(CONFIG, [0, 0, 0], [40, 4, 4], [1, 0, 1], 100, 10)

    assert (ran.ttft_ns.tolist(), ran.e2e_ns.tolist()) == ([NEVER, NEVER, 140], [NEVER, NEVER, 140])
    assert list(ran.refusals) == [0, 1]
    assert ran.itl_ns.tolist() == []


def test_priorities_and_prefixes_count() -> None:
    """With two rows at most, the urgent one is first; a cached prompt costs only the rest."""
    by_priority = EngineConfig(max_num_seqs=1, max_num_batched_tokens=8, policy="priority")
    cached = EngineConfig(max_num_seqs=1, max_num_batched_tokens=32, block_size=4, prefix_cache=True)
    alike = [(1, 2, 3, 4, 5), (1, 2, 3, 4, 6)]

    assert simulate(by_priority, [0, 0], [4, 4], [1, 1], 0, 10, priorities=[2, 1]).ttft_ns.tolist() == [80, 40]
    assert simulate(cached, [0, 0], [5, 5], [1, 1], 0, 10, prompts=alike).ttft_ns.tolist() == [50, 60]
    assert simulate(cached, [0, 0], [5, 5], [1, 1], 0, 10).ttft_ns.tolist() == [50, 100]


@pytest.mark.parametrize("seed", range(100))
def test_all_tokens_are_said_and_the_device_never_rests(seed: int) -> None:
    """As many as were asked for, or as the context holds; no iteration begins before the last one has ended."""
    draw = Random(seed)
    config, count = config_of(draw), 30
    arrivals = np.cumsum([draw.choice((0, 0, 1, 7, 900)) for _ in range(count)])
    prompts, outputs = ([draw.randint(1, 9) for _ in range(count)] for _ in range(2))

    ran = simulate(config, arrivals, prompts, outputs, 10, 3)

    owed = [min(out, config.max_model_len - size) for size, out in zip(prompts, outputs, strict=True)]
    refused = [number in ran.refusals for number in range(count)]
    assert [times.size for times in ran.token_ns] == [0 if no else out for no, out in zip(refused, owed, strict=True)]
    assert (ran.exit_ns - ran.enter_ns).tolist() == (10 + 3 * ran.tokens).tolist()
    gaps = ran.enter_ns[1:] - ran.exit_ns[:-1]
    assert (gaps >= 0).all()
    assert set(ran.enter_ns[1:][gaps > 0].tolist()) <= set(arrivals.tolist())
    assert (ran.ttft_ns[~np.array(refused)] > 0).all()


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"prompt_tokens": [1]}, "prompt_tokens has 1 values for 2 requests"),
        ({"priorities": [1]}, "priorities has 1 values for 2 requests"),
        ({"arrival_ns": [2, 1]}, "arrival_ns must ascend from 0 or more"),
        ({"tau0_ns": 0, "tau1_ns": 0}, "an iteration must take at least 1 ns"),
    ],
    ids=["lengths", "priorities", "times", "no time"],
)
def test_what_cannot_be_simulated_is_refused(asked: dict[str, Any], why: str) -> None:
    """The message names the argument."""
    plain = {"arrival_ns": [0, 1], "prompt_tokens": [1, 1], "output_tokens": [1, 1], "tau0_ns": 1, "tau1_ns": 1}
    with pytest.raises(ValueError, match=why):
        simulate(CONFIG, **{**plain, **asked})
