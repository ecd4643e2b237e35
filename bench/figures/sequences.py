"""Open sequences as figures: steps a second, the latency of a step, the slots that are filled, and what batching gains."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any

from batchproof.bench.each_work import Works
from batchproof.bench.figures.of_run import latencies, median_of, rate
from batchproof.bench.measurements.sequences import Gain, Held, Stateful
from batchproof.reports.figure_names import figure
from batchproof.reports.figures import Figure


def figures(found: Works[Stateful]) -> tuple[Figure, ...]:
    """Return the gain of each strategy, and what each load has measured."""
    return tuple(one for name, work in found.works.items() for one in _of_work(name, work))


def _of_work(work: str, found: Stateful) -> Iterator[Figure]:
    for gain in found.gains:
        yield from _of_gain(work, gain)
    for held in found.held:
        if held.load:
            where: dict[str, Any] = {"work": work, "strategy": held.strategy, "load": held.load}
            yield from latencies("streams", held.run.samples.latency_ns, valid=held.run.valid, **where)
        else:
            yield from _of_load(work, found.slots, held)


def _of_gain(work: str, gain: Gain) -> Iterator[Figure]:
    about: dict[str, Any] = {"valid": not gain.reasons, "work": work, "strategy": gain.strategy}
    if gain.batched_per_s:
        bounds, n = median_of(gain.batched_per_s), len(gain.batched_per_s)
        value = statistics.median(gain.batched_per_s)
        yield figure("sequences.batched_steps_per_s", value, low=bounds.low, high=bounds.high, n=n, **about)
    ratio = gain.conclusion
    if ratio.estimate is not None:
        yield figure("sequences.gain", ratio.estimate, low=ratio.low, high=ratio.high, n=ratio.n, **about)


def _of_load(work: str, slots: int, held: Held) -> Iterator[Figure]:
    where: dict[str, Any] = {"work": work, "strategy": held.strategy, "lengths": held.lengths, "open": held.sequences}
    told = rate(held.run, min(slots, int(held.sequences or 1)))
    known: dict[str, Any] = {"low": told.low, "high": told.high, "n": told.n, "valid": held.run.valid}
    yield figure("sequences.steps_per_s", held.run.throughput, **known, **where)
    if held.filled is not None:
        yield figure("sequences.filled", held.filled, valid=held.run.valid, **where)
    yield from latencies("steps", held.run.samples.latency_ns, valid=held.run.valid, **where)
