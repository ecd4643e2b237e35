"""Blocks: their figures on samples whose rates are known, and what makes a block worthless."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from batchproof.bench.ab import block as block_module
from batchproof.bench.ab.block import Block, paced, rates, saturated
from batchproof.load.runs import Run
from batchproof.load.samples import Samples
from batchproof.load.validity import Validity
from batchproof.load.workload import Work, serve
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.targets import resolve

MS = 1_000_000
WORK = Work("device", "", 8 * MS, MS // 2)


def batches(count: int, rows: int = 8, tau_ns: int = 12 * MS, late: dict[int, int] | None = None) -> Samples:
    """Batches one after another, each answered at once; late: batch -> ns that it and all after it are late."""
    ends = np.cumsum([tau_ns + (late or {}).get(number, 0) for number in range(count)])
    done = np.repeat(ends, rows).astype(np.int64)
    count *= rows
    zeros = np.zeros(count, np.int64)
    return Samples(zeros, zeros, done, np.zeros(count, np.uint8), np.zeros(count, np.int32))


def test_full_batches_give_both_rates_exactly() -> None:
    """8 rows in 12 ms, whatever the place of the first answer in its batch is."""
    whole = batches(30)
    for skipped in range(8):
        mask = np.arange(whole.count) >= skipped
        found = rates(whole.part(mask), 24, 8)

        assert found["rows_per_s"] == pytest.approx(8 / 0.012)
        assert found["typical_rows_per_s"] == pytest.approx(8 / 0.012)


def test_a_pause_slows_the_mean_and_not_the_typical_batch() -> None:
    """One batch in twenty takes 36 ms."""
    found = rates(batches(40, late={10: 24 * MS, 30: 24 * MS}), 24, 8)

    assert found["typical_rows_per_s"] == pytest.approx(8 / 0.012)
    assert found["rows_per_s"] == pytest.approx(8 * 33 / (0.012 * 33 + 0.048), rel=0.03)


def test_instances_in_step_are_one_large_batch() -> None:
    """Two batches end at the same moment, so that half of the times between eight answers are 0."""
    found = rates(batches(30, rows=16), 40, 16)

    assert list(found.values()) == pytest.approx([16 / 0.012] * 2)


def test_bursts_have_no_typical_batch() -> None:
    """Where the answers of four batches come at once, the median time of one is 0, and the mean stands for it."""
    found = rates(batches(30, rows=32), 24, 8)

    assert found["typical_rows_per_s"] == found["rows_per_s"]


def test_too_few_answers_have_no_rate() -> None:
    """Nothing is left between the first and the last answers of the clients."""
    assert set(rates(batches(6), 24, 8).values()) == {0.0}
    assert set(rates(batches(0), 24, 8).values()) == {0.0}


def test_blocks_of_the_simulated_reference_are_exact() -> None:
    """In simulated time there is no noise: 8 rows in 12 ms, and the same arrivals have the same latencies."""
    with serve(resolve("virtual"), WORK, BatcherConfig(max_batch_size=8), wait_ns=10**10) as served:
        block = saturated(served, 24, 200, 8)
        one, two, other = (paced(served, 300.0, 1.0, seed) for seed in (1, 1, 2))

    assert (block.requests, block.failed, block.stalled, block.why) == (200, 0, 0.0, "")
    assert block.values["rows_per_s"] == pytest.approx(8 / 0.012)
    assert one.values == two.values != other.values
    assert 8.5e6 <= one.values["p50_ns"] <= one.values["p99_ns"]


def made(samples: Samples, kind: str = "closed", **host: Any) -> Block:
    """A block of these samples on a host of which this is known."""
    run = Run(kind, "", samples, 1000 * MS, Validity(), host)
    return block_module._block(run, {"rows_per_s": 1.0})


def test_a_host_that_stalls_for_most_of_a_block_makes_it_worthless() -> None:
    """Less than half is noise, which the test of pairs can bear."""
    assert made(batches(30), stalled_ns=300 * MS).why == ""
    assert made(batches(30), stalled_ns=600 * MS).why == "the host stalled for 60% of it"


def test_a_late_generator_makes_a_paced_block_worthless() -> None:
    """Its latencies would be those of the generator."""
    samples = batches(30)
    late = replace(samples, sent_ns=samples.scheduled_ns + 500 * MS, done_ns=samples.done_ns + 500 * MS)

    assert made(samples, "open").why == ""
    assert "the generator was late: p99 500.0 ms" in made(late, "open").why


def test_without_a_figure_it_says_so() -> None:
    """A block whose requests all failed cannot be compared."""
    run = Run("closed", "", batches(30), 1000 * MS, Validity())

    assert block_module._block(run, {"rows_per_s": 0.0}).why == "too few requests were answered to time it"
    assert block_module._block(run, {}).why == "too few requests were answered to time it"
