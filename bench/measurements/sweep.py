"""Sweep of max_batch_size and queue delay: each point saturated (closed loop) and at shares of its capacity (open loop).

The closed loop has 2 x max_batch_size x instances clients. With fewer, some batches leave half empty while the others are
computed: N = max_batch_size reaches about 60 % of the capacity. Each point is shown with what the oracle predicts for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from batchproof.bench.calibration import Calibrate, Calibration
from batchproof.bench.each_work import measured, summed_up
from batchproof.bench.fit import another_way
from batchproof.bench.fleet import together
from batchproof.bench.measurement import Bench
from batchproof.bench.oracle.prediction import (
    Assessment,
    Prediction,
    assess,
    margin_of,
    overhead,
    overrun,
    predict,
    predict_closed,
)
from batchproof.bench.result import Result
from batchproof.load.runs import Run, closed_loop
from batchproof.load.schedule import poisson
from batchproof.load.workload import MS, Served, Skipped, Work
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.stats import gates
from batchproof.stats.gates import FAIL, INCONCLUSIVE, Conclusion, at_least
from batchproof.stats.percentile import fewest

SIZES = ((1, 4, 8, 32), (1, 4, 16))  # full, quick
DELAYS_NS = ((0, 5 * MS, 25 * MS), (0, 5 * MS, 25 * MS))
FRACTIONS = (0.3, 0.6, 0.9)
GATE = 1.1
CLOSED_S = (4.0, 1.0)
ENOUGH = fewest(99) + 1
OPEN_S = ((5.0, 20.0), (1.5, 5.0))  # at least, at most: as long as a p99 needs
WINDOWS = 8  # of a closed run, for the gate: with fewer, medians have no bounds of 99.5 %


@dataclass(frozen=True, eq=False)
class Observed:
    """A configuration under one load. load: JSON data; summary: of the run; share: of what the curve allows at most."""

    config: BatcherConfig
    load: Mapping[str, Any]
    run: Run
    summary: Mapping[str, Any]
    oracle: Assessment
    share: float

    @property
    def size(self) -> int:
        """The max_batch_size."""
        return self.config.max_batch_size

    @property
    def valid(self) -> bool:
        """The run is a result."""
        return self.run.valid

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        facts = {"config": self.config.facts(), **self.load, **self.summary, "oracle": self.oracle.facts()}
        return facts | ({"share_of_limit": self.share} if self.valid else {})


@dataclass(frozen=True, eq=False)
class Sweep:
    """The points of the grid: closed has one for each configuration, saturated; open has their shares of the capacity.

    ceiling: how many times the largest batch can beat the smallest, by the curve. otherwise: the claim by which the target
    forms batches in another way than the simulator.
    """

    closed: tuple[Observed, ...]
    open: tuple[Observed, ...]
    ceiling: float
    otherwise: str = ""

    @cached_property
    def best(self) -> Observed:
        """The point with the most throughput."""
        return best_of(self.closed)

    @cached_property
    def smallest(self) -> Observed:
        """The best point with the smallest batch."""
        least = min(point.size for point in self.closed)
        return best_of([point for point in self.closed if point.size == least])

    @property
    def valid(self) -> bool:
        """Whether the two points that are compared are results."""
        return self.best.valid and self.smallest.valid

    @property
    def ratio(self) -> float:
        """How many times more the best point serves."""
        smallest = self.smallest.run.throughput
        return self.best.run.throughput / smallest if smallest else 0.0

    @property
    def verdict(self) -> str:
        """The gate's; "" for a model that cannot gain from batching. No FAIL while a larger batch is unknown."""
        if self.ceiling < GATE:
            return ""
        verdict: str = judged(self.best.run, self.smallest.run).verdict
        unknown = any(not point.valid and point.size > self.smallest.size for point in self.closed)
        return INCONCLUSIVE if verdict == FAIL and unknown else verdict

    @property
    def reasons(self) -> tuple[str, ...]:
        """The first reason against each point that is not a result."""
        rows = (*self.closed, *self.open)
        return tuple(f"{words(row.config)}: {row.run.validity.reasons[0]}" for row in rows if not row.valid)

    @property
    def findings(self) -> tuple[str, ...]:
        """Where the oracle is missed, in words, the greatest loss first."""
        told = [row for row in (*self.closed, *self.open) if row.oracle.finding]
        told.sort(key=lambda row: -(row.oracle.lost or 0))
        return tuple(f"{words(row.config)}: {row.oracle.finding}" for row in told)

    @property
    def caveat(self) -> str:
        """Why a finding need not be a loss; empty if it is one."""
        if not (self.findings and self.otherwise):
            return ""
        return f"the target claims {self.otherwise}, and the simulator forms batches in another way"

    @property
    def says(self) -> str:
        """Its part of the headline."""
        best, least = self.best, self.smallest.size
        says = f"best {words(best.config)}: {best.run.throughput:,.0f}/s, {self.ratio:.2f}x the smallest batch"
        says += f", {least}" if least > 1 else ""
        if unknown := sum(not point.valid for point in self.closed):
            says += f" (of {len(self.closed) - unknown} VALID points, {unknown} INVALID)"
        if not self.valid:
            spoilt = next(point for point in (self.best, self.smallest) if not point.valid)
            says = f"no result: {words(spoilt.config)} is invalid: {spoilt.run.validity.reasons[0]}"
        elif self.ceiling < GATE:
            says = f"cannot gain from batching (ceiling {self.ceiling:.2f}x): not judged; {says}"
        return "; ".join([says, *self.findings[:1], *filter(None, [self.caveat])])

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        return {
            "valid": self.valid,
            "verdict": self.verdict,
            "reasons": list(self.reasons),
            "says": self.says,
            "best": self.best.config.facts(),
            "ratio": self.ratio if self.valid else None,
            "gate": GATE,
            "ceiling": self.ceiling,
            "findings": list(self.findings),
            "caveat": self.caveat,
            "closed": [point.facts() for point in self.closed],
            "open": [row.facts() for row in self.open],
        }


def measure(bench: Bench, calibrate: Calibrate) -> Result:
    """Sweep each work."""
    return summed_up(measured(bench.works, partial(of_work, bench, calibrate)))


def of_work(bench: Bench, calibrate: Calibrate, work: Work) -> Sweep:
    """Saturate every point; then offer shares of the capacity: to every point, or in the quick form only to the best."""
    calibration, at = calibrate(work), int(bench.quick)
    curve = calibration.curve
    sizes = [size for size in SIZES[at] if size <= curve.sizes[-1]]
    configs = grid(bench, sizes, DELAYS_NS[at])
    least, most = configs[0].max_batch_size, configs[-1].max_batch_size
    if least == most:
        raise Skipped(f"{bench.target.info.name} has no batches smaller than {least} to compare with")
    closed, opened = _points(bench, calibration, configs)
    otherwise = another_way(bench.target.info.claims)
    return Sweep(tuple(closed), tuple(opened), curve.ceiling(most) / curve.ceiling(least), otherwise)


def grid(bench: Bench, sizes: Sequence[int], delays_ns: Sequence[int]) -> list[BatcherConfig]:
    """Return the configurations that the target can have, once each, from the smallest batch and delay up."""
    asked = [BatcherConfig(max_batch_size=size, max_queue_delay_ns=delay_ns) for size in sizes for delay_ns in delays_ns]
    had = dict.fromkeys(bench.fitted(config) for config in asked)
    return sorted(had, key=lambda config: (config.max_batch_size, config.max_queue_delay_ns))


def _points(
    bench: Bench, calibration: Calibration, configs: Sequence[BatcherConfig]
) -> tuple[list[Observed], list[Observed]]:
    points: list[Observed] = []
    loads: list[Observed] = []
    with together(bench, calibration.work, configs) as serve:
        for config in configs:
            with serve(config) as served:
                points.append(_saturate(bench, served, config, calibration))
                if not bench.quick:
                    loads += _fractions(bench, served, points[-1], calibration)
        for number, point in enumerate(points):
            if not point.valid:  # a host that was noisy may be quiet now
                with serve(point.config) as served:
                    points[number] = _saturate(bench, served, point.config, calibration)
        if bench.quick:
            best = best_of(points)
            with serve(best.config) as served:
                loads = _fractions(bench, served, best, calibration)
    return points, loads


def best_of(points: Sequence[Observed]) -> Observed:
    """Return the point that serves most. Of those within 1 % of it the smallest batch and delay: equals are not better."""
    valid = [point for point in points if point.valid] or points
    most = max(point.run.throughput for point in valid)
    near = [point for point in valid if point.run.throughput >= 0.99 * most]
    return min(near, key=lambda point: (point.size, point.config.max_queue_delay_ns))


def judged(best: Run, smallest: Run) -> Conclusion:
    """Judge best >= 1.1 x smallest by the answers in eighths of each run; invalid runs tell nothing."""
    if not (best.validity.valid and smallest.validity.valid):
        return gates.figure(None, at_least(GATE))
    return gates.ratio_of_medians(windows(best), windows(smallest), at_least(GATE))


def windows(run: Run) -> list[float]:
    """Return the answers a second in each eighth of a run."""
    done_ns = run.samples.done_ns[run.samples.answered]
    counts, edges = np.histogram(done_ns, WINDOWS, (0, run.duration_ns))
    seconds = (edges[1] - edges[0]) / 1e9
    return [float(count / seconds) for count in counts]


def _saturate(bench: Bench, served: Served, config: BatcherConfig, calibration: Calibration) -> Observed:
    clients, seconds = 2 * config.max_batch_size * config.instances, CLOSED_S[int(bench.quick)]
    bench.say(f"{served.work.name}: {words(config)}, {clients} clients")
    closed_loop(served.submit, served.clock, clients, wait_ns=bench.wait_ns, requests=2 * clients)  # the warm-up
    run = bench.valid(
        lambda: closed_loop(
            served.submit,
            served.clock,
            clients,
            wait_ns=bench.wait_ns,
            requests=2 * clients,
            seconds=seconds,
            compute_threads=served.threads,
        )
    )
    prediction = predict_closed(
        config,
        calibration.curve,
        clients,
        max(run.samples.count, clients),
        overhead_ns=calibration.overhead_ns,
        answers_first=bench.target.simulated,
    )
    return _observed(bench, calibration, config, run, prediction, "closed", {"clients": clients})


def _fractions(bench: Bench, served: Served, point: Observed, calibration: Calibration) -> list[Observed]:
    """Offer shares of what this configuration gave when it was saturated, Poisson arrivals."""
    config, capacity, rows = point.config, point.run.throughput, []
    overrun_ns = overrun(config, capacity, point.oracle.predicted["throughput"])
    overhead_ns = overhead(config, calibration.overhead_ns, overrun_ns)
    least_s, most_s = OPEN_S[int(bench.quick)]
    for number, fraction in enumerate(FRACTIONS if capacity else ()):
        rate = fraction * capacity
        bench.say(f"{served.work.name}: {words(config)}, {rate:,.0f}/s offered")
        seconds = min(max(least_s, ENOUGH / rate), most_s)
        schedule = poisson(rate, seconds, bench.seed + number, exact=True)
        run = bench.valid(
            lambda due=schedule: bench.open_loop(served, due)  # type: ignore[misc]
        )
        prediction = predict(
            config,
            calibration.curve,
            schedule.due_ns,
            overrun_ns=overrun_ns,
            overhead_ns=overhead_ns,
            end_ns=schedule.end_ns,
        )
        load = {"fraction": fraction, "rate": rate}
        rows.append(_observed(bench, calibration, config, run, prediction, f"{fraction:g}", load))
    return rows


def _observed(
    bench: Bench,
    calibration: Calibration,
    config: BatcherConfig,
    run: Run,
    prediction: Prediction,
    label: str,
    load: Mapping[str, Any],
) -> Observed:
    """Keep the samples; return the point with what the oracle says of it."""
    name = f"sweep-{calibration.work.name}-b{config.max_batch_size}-d{config.max_queue_delay_ns // 1000}us-{label}"
    share = run.throughput / calibration.curve.max_throughput(config.max_batch_size, config.instances)
    oracle = assess(prediction, run, margin_of(bench.target.info.name))
    return Observed(config, load, run, bench.keep(name, run), oracle, share)


def words(config: BatcherConfig) -> str:
    """Return a configuration as people say it."""
    return f"batch {config.max_batch_size}, delay {config.max_queue_delay_ns / MS:g} ms"
