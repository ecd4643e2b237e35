"""Predictions under test: they are compared with runs, and the time that a target loses is named."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from batchproof.bench.oracle.curve import Curve
from batchproof.bench.oracle.prediction import assess, margin_of, overhead, overrun, predict, predict_closed
from batchproof.load.runs import Run, open_loop
from batchproof.load.samples import OUTCOMES, Samples
from batchproof.load.schedule import Schedule, poisson
from batchproof.load.validity import Validity
from batchproof.reference_batcher import BatcherConfig
from batchproof.targets.protocol import Request
from batchproof.targets.virtual import VirtualTarget
from batchproof.targets.witness.probe import Payload

MS = 1_000_000
CURVE = Curve.affine(2 * MS, MS // 5, (1, 2, 4, 8))
CAPACITY = CURVE.max_throughput(8)
LOAD = poisson(0.7 * CAPACITY, 1.0, 11)


def _virtual_run(config: BatcherConfig, schedule: Schedule = LOAD) -> Run:
    served = VirtualTarget().deploy(config)
    ask = Payload(work_ns=2 * MS, row_work_ns=MS // 5)
    return open_loop(lambda number: served.submit(Request("load", number, ask)), served.clock, schedule, wait_ns=10**12)


def _run(told: Any, factor: float, outcome: str = "answered", reasons: tuple[str, ...] = ()) -> Any:
    """Return a run with the latencies of a prediction times `factor`."""
    due = told.simulated.due_ns
    done = due + (told.simulated.latency_ns * factor).astype(np.int64)
    outcomes = np.full(due.size, OUTCOMES.index("answered"), dtype=np.uint8)
    outcomes[: due.size // 2] = OUTCOMES.index(outcome)
    samples = Samples(due, due, done, outcomes, np.zeros(due.size, dtype=np.int32))
    return SimpleNamespace(samples=samples, throughput=told.throughput / factor, validity=Validity(reasons))


@pytest.mark.parametrize("more", [{}, {"max_queue_delay_ns": MS}, {"instances": 2}, {"max_queue_size": 2}], ids=str)
def test_the_virtual_target_is_as_predicted(more: dict[str, int]) -> None:
    """With the same schedule and the same generator, the two do not differ by a nanosecond."""
    config = BatcherConfig(max_batch_size=8, **more)
    told, run = predict(config, CURVE, LOAD.due_ns, end_ns=LOAD.end_ns), _virtual_run(config)
    found = assess(told, run, 0.0)

    assert run.samples.latency_ns.tolist() == told.simulated.latency_ns.tolist()
    assert found.verdict == "PASS"
    assert found.ratios["mean_ns"] == found.ratios["p50_ns"] == 1.0
    assert found.ratios["throughput"] == pytest.approx(1.0, rel=0.001), "an answer in the very last nanosecond"
    assert told.refused == np.count_nonzero(~run.samples.answered)


def test_a_target_that_loses_time_is_named() -> None:
    """A target slower than the margin is a finding, with its size; a faster one is a finding about the curve."""
    told = predict(BatcherConfig(max_batch_size=8), CURVE, LOAD.due_ns)
    slow, same, fast = (assess(told, _run(told, factor)) for factor in (1 / 0.7, 1.1, 0.7))

    assert (slow.verdict, same.verdict, fast.verdict) == ("FAIL", "PASS", "INCONCLUSIVE")
    assert slow.finding.startswith("loses 30% somewhere: answers take 1.43 times")
    assert (same.finding, slow.lost) == ("", pytest.approx(0.3, abs=0.001))
    assert "they are wrong" in fast.finding
    assert assess(told, _run(told, 1.1), margin_of("reference")).verdict == "FAIL"
    assert (margin_of("triton-docker"), margin_of("somebody:else"), margin_of("virtual")) == (0.15, 0.15, 0.05)


def test_a_closed_loop_is_judged_by_its_rate() -> None:
    """So is an open loop with more load than capacity: its latency has no mean."""
    config = BatcherConfig(max_batch_size=8)
    over = predict(config, CURVE, poisson(1.5 * CAPACITY, 0.5, 11).due_ns)
    for told in (predict_closed(config, CURVE, 16, 4000), over):
        found = assess(told, _run(told, 1 / 0.7))
        assert found.verdict == "FAIL"
        assert found.finding.startswith("loses 30% somewhere: requests per second are 0.70 times")
    assert predict_closed(config, CURVE, 16, 4000).throughput == pytest.approx(CAPACITY, rel=0.01)


def test_what_cannot_be_judged_is_not() -> None:
    """Invalid runs, loads near capacity and missing answers are INCONCLUSIVE, with the reason."""
    config = BatcherConfig(max_batch_size=8)
    told, near = (predict(config, CURVE, poisson(load * CAPACITY, 1.0, 11, exact=True).due_ns) for load in (0.7, 0.96))
    found = [
        assess(told, _run(told, 2, reasons=("the host stood still",))),
        assess(near, _run(near, 2)),
        assess(told, _run(told, 2, outcome="lost")),
    ]

    assert [one.verdict for one in found] == ["INCONCLUSIVE"] * 3
    assert [one.finding for one in found] == [""] * 3
    assert found[0].why == "the run is invalid: the host stood still"
    assert "close to the capacity" in found[1].why
    assert "were not answered" in found[2].why


def test_an_overrun_costs_throughput_and_the_overhead_does_not() -> None:
    """What keeps the instance busy costs throughput; anything else only adds to the latency."""
    config = BatcherConfig(max_batch_size=8)
    bare, busy, far = (predict(config, CURVE, LOAD.due_ns, **more) for more in ({}, {"overrun_ns": MS}, {"overhead_ns": MS}))

    assert far.mean_ns == pytest.approx(bare.mean_ns + MS)
    assert far.p99_ns == bare.p99_ns + MS
    assert busy.mean_ns > far.mean_ns
    assert busy.load > bare.load == pytest.approx(far.load)


@pytest.mark.parametrize(("per_s", "overrun_ms", "overhead_ms"), [(200, 4, 1.5), (8000 / 36, 0, 2), (250, 0, 2), (0, 0, 2)])
def test_the_overrun_follows_from_saturation_and_lone_requests(per_s: float, overrun_ms: int, overhead_ms: float) -> None:
    """A batch of 8 that should take 36 ms and takes 40 has an overrun of 4 ms, and a lone request has an eighth of it."""
    config = BatcherConfig(max_batch_size=8)

    assert overrun(config, per_s, 8000 / 36) == overrun_ms * MS
    assert overhead(config, 2 * MS, overrun_ms * MS) == overhead_ms * MS
    assert overhead(config, MS, 16 * MS) == 0


def test_a_smaller_batch_runs_over_by_less() -> None:
    """The overrun is in proportion to the rows, because the extra work is done for each request."""
    config = BatcherConfig(max_batch_size=8)
    lone, full = (predict(config, CURVE, due_ns, overrun_ns=MS) for due_ns in ([0], [0] * 9))

    assert lone.mean_ns == CURVE.at(1) + MS / 8
    assert full.simulated.done_ns.max() == CURVE.at(1) + MS / 8 + CURVE.at(8) + MS
