"""Sweep of max_batch_size and queue delay: each point saturated (closed loop) and at fractions of its capacity (open loop).

Closed loop with 2 x max_batch_size x instances clients: with fewer, part of the batches leave half empty while the others
are computed (N = max_batch_size reaches about 60 % of the capacity). Beside each point stands what the oracle says of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from batchproof.bench.each_work import each_work
from batchproof.bench.fleet import together
from batchproof.bench.measurement import Bench, Result
from batchproof.bench.oracle.curve import Curve
from batchproof.bench.oracle.prediction import (
    Prediction,
    compare,
    margin_of,
    overrun,
    predict,
    predict_closed,
    way,
)
from batchproof.load.runs import Run, closed_loop, open_loop
from batchproof.load.schedule import poisson
from batchproof.load.workload import MS, Served, Work
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.stats import gates
from batchproof.stats.gates import INCONCLUSIVE, Decision, at_least
from batchproof.stats.percentile import fewest

SIZES = ((1, 4, 8, 32), (1, 4, 16))  # full, quick
DELAYS_NS = ((0, 5 * MS, 25 * MS), (0, 5 * MS, 25 * MS))
FRACTIONS = (0.3, 0.6, 0.9)
GATE = 1.1
CLOSED_S = (4.0, 1.0)
ENOUGH = fewest(99) + 1
OPEN_S = ((5.0, 20.0), (1.5, 5.0))  # at least, at most: as long as a p99 needs
WINDOWS = 8  # of a closed run, for the gate: with fewer, medians have no bounds of 99.5 %
SHOWN = 3  # findings in words; the tables have them all


@dataclass(frozen=True, eq=False)
class Point:
    """One configuration, saturated."""

    config: BatcherConfig
    run: Run
    kept: Result

    @property
    def size(self) -> int:
        """The max_batch_size."""
        return self.config.max_batch_size


def measure(bench: Bench) -> Result:
    """Sweep each work."""
    return each_work(bench, of_work, lambda works: [table for name, one in works.items() for table in _tables(name, one)])


def of_work(bench: Bench, work: Work) -> Result:
    """Saturate every point; then offer fractions of the capacity. In the quick form only to the best."""
    curve, at = bench.curve(work), int(bench.quick)
    sizes = [size for size in SIZES[at] if size <= curve.sizes[-1]]
    ceiling = curve.ceiling(sizes[-1])
    points, loads = _points(bench, work, curve, [(size, delay_ns) for size in sizes for delay_ns in DELAYS_NS[at]])
    best, smallest = best_of(points), best_of([point for point in points if point.size == sizes[0]])
    rows = [*(point.kept for point in points), *loads]
    decided = all(point.run.valid for point in (best, smallest))
    ratio = best.run.throughput / smallest.run.throughput if smallest.run.throughput else 0.0
    says = f"best {words(best.config)}: {best.run.throughput:,.0f}/s, {ratio:.2f}x the smallest batch"
    if unknown := sum(not point.run.valid for point in points):
        says += f" (of {len(points) - unknown} VALID points, {unknown} INVALID)"
    if not decided:
        says = "the best or the smallest point is invalid, so that the sweep has no result"
    elif ceiling < GATE:
        says = f"cannot gain from batching (ceiling {ceiling:.2f}x): not judged; {says}"
    findings = _findings(rows)
    return {
        "valid": decided,
        "verdict": judged(best.run, smallest.run).verdict if ceiling >= GATE else "",
        "reasons": [
            f"{words(BatcherConfig.from_facts(row['config']))}: {row['reasons'][0]}" for row in rows if row["reasons"]
        ],
        "says": f"{says}; {findings[0]}" if findings else says,
        "best": best.config.facts(),
        "ratio": ratio if decided else None,
        "gate": GATE,
        "ceiling": ceiling,
        "findings": findings,
        "closed": [point.kept for point in points],
        "open": loads,
    }


def _points(bench: Bench, work: Work, curve: Curve, grid: Sequence[tuple[int, int]]) -> tuple[list[Point], list[Result]]:
    """Return every point of the grid, saturated, and its loads; in the quick form those of the best alone."""
    configs = [BatcherConfig(max_batch_size=size, max_queue_delay_ns=delay_ns) for size, delay_ns in grid]
    points: list[Point] = []
    loads: list[Result] = []
    with together(bench, work, configs) as serve:
        for config in configs:
            with serve(config) as served:
                points.append(_saturate(bench, served, config, curve))
                if not bench.quick:
                    loads += _fractions(bench, served, points[-1], curve)
        for number, point in enumerate(points):
            if not point.run.valid:  # a host that was noisy may be quiet now
                with serve(point.config) as served:
                    points[number] = _saturate(bench, served, point.config, curve)
        if bench.quick:
            best = best_of(points)
            with serve(best.config) as served:
                loads = _fractions(bench, served, best, curve)
    return points, loads


def best_of(points: list[Point]) -> Point:
    """Return the point that serves most; of those within 1 % of it the smallest batch and delay: equals are not better."""
    valid = [point for point in points if point.run.valid] or points
    most = max(point.run.throughput for point in valid)
    near = [point for point in valid if point.run.throughput >= 0.99 * most]
    return min(near, key=lambda point: (point.size, point.config.max_queue_delay_ns))


def judged(best: Run, smallest: Run) -> Decision:
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


def _saturate(bench: Bench, served: Served, config: BatcherConfig, curve: Curve) -> Point:
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
    way_ns = bench.ways_ns.get(served.work.name, 0)
    prediction = predict_closed(
        config, curve, clients, max(run.samples.count, clients), way_ns=way_ns, answers_first=bench.target.simulated
    )
    return Point(config, run, _kept(bench, served, config, run, prediction, curve, "closed", clients=clients))


def _fractions(bench: Bench, served: Served, point: Point, curve: Curve) -> list[Result]:
    """Offer fractions of what this configuration gave when it was saturated, Poisson arrivals."""
    config, rows = point.config, []
    overrun_ns = overrun(config, point.run.throughput, point.kept["oracle"]["predicted"]["throughput"])
    least_s, most_s = OPEN_S[int(bench.quick)]
    way_ns = way(config, bench.ways_ns.get(served.work.name, 0), overrun_ns)
    for number, fraction in enumerate(FRACTIONS):
        if not (rate := fraction * point.run.throughput):
            break
        bench.say(f"{served.work.name}: {words(config)}, {rate:,.0f}/s offered")
        seconds = min(max(least_s, ENOUGH / rate), most_s)
        schedule = poisson(rate, seconds, bench.seed + number, exact=True)
        run = bench.valid(
            lambda due=schedule: open_loop(
                served.submit, served.clock, due, wait_ns=bench.wait_ns, compute_threads=served.threads
            )  # type: ignore[misc]
        )
        prediction = predict(config, curve, schedule.due_ns, overrun_ns=overrun_ns, way_ns=way_ns, end_ns=schedule.end_ns)
        rows.append(_kept(bench, served, config, run, prediction, curve, f"{fraction:g}", fraction=fraction, rate=rate))
    return rows


def _kept(
    bench: Bench,
    served: Served,
    config: BatcherConfig,
    run: Run,
    prediction: Prediction,
    curve: Curve,
    load: str,
    **facts: Any,
) -> Result:
    """Keep the samples; return the row with its configuration and what the oracle says of it."""
    name = f"sweep-{served.work.name}-b{config.max_batch_size}-d{config.max_queue_delay_ns // 1000}us-{load}"
    share = run.throughput / curve.limit(config.max_batch_size, config.instances)
    oracle = compare(prediction, run, margin_of(bench.target.info.name))
    row = {"config": config.facts(), **facts, **bench.keep(name, run), "oracle": oracle}
    return row | ({"share_of_limit": share} if run.valid else {})


def words(config: BatcherConfig) -> str:
    """Return a configuration as people say it."""
    return f"batch {config.max_batch_size}, delay {config.max_queue_delay_ns / MS:g} ms"


def _findings(rows: list[Result]) -> list[str]:
    """Where the oracle is missed: in words, most of it first."""
    told = [row for row in rows if row["oracle"]["finding"]]
    told.sort(key=lambda row: -(row["oracle"]["lost"] or 0))
    return [f"{words(BatcherConfig.from_facts(row['config']))}: {row['oracle']['finding']}" for row in told]


def _tables(name: str, one: Result) -> list[dict[str, Any]]:
    closed = [
        [*_where(row), row["clients"], *_pair(row, "throughput", "throughput"), row.get("share_of_limit"), _status(row)]
        for row in one["closed"]
    ]
    loads = [
        [
            *_where(row),
            row["fraction"],
            row.get("throughput"),
            *(value and value / MS for value in _pair(row, "mean_ns", "mean_ns")[:2]),
            row["oracle"]["ratios"]["mean_ns"] if row["valid"] else None,
            *(value and value / MS for value in _pair(row, "p99_ns", "p99_ns", fewest(99))[:2]),
            _status(row),
        ]
        for row in one["open"]
    ]
    return [
        {
            "title": f"{name}: saturated, closed loop",
            "heads": ["max_batch_size", "delay ms", "clients", "requests/s", "oracle", "ratio", "share of the limit", ""],
            "rows": closed,
            "note": f"{one['says']}. Gate {GATE}: 99 % bounds of the ratio of medians over eighths of the runs.",
        },
        {
            "title": f"{name}: at fractions of the capacity, Poisson arrivals, latency from the schedule",
            "heads": ["max_batch_size", "delay ms", "of capacity", "requests/s", "mean ms", "oracle", "ratio", "p99 ms",
                      "oracle", ""],
            "rows": loads,
            "note": _note(one),
        },
    ]  # fmt: skip


def _note(one: Result) -> str:
    rows = [*one["closed"], *one["open"]]
    judged = sum(row["oracle"]["verdict"] != INCONCLUSIVE for row in rows)
    if one["findings"]:
        return "; ".join(one["findings"][:SHOWN]) + "."
    return f"{judged} of {len(rows)} points could be compared with their oracle" + (
        ", and none is slower." if judged else "."
    )


def _where(row: Result) -> list[Any]:
    return [row["config"]["max_batch_size"], row["config"]["max_queue_delay_ns"] / MS]


def _pair(row: Result, measured: str, predicted: str, least: int = 0) -> list[Any]:
    """Measured, predicted and their ratio; of a run that is invalid or too short for it, only what is predicted."""
    oracle = row["oracle"]
    known = row["valid"] and row["requests"] >= least
    return [oracle["measured"][measured] if known else None, oracle["predicted"][predicted],
            oracle["ratios"][measured] if known else None]  # fmt: skip


def _status(row: Result) -> str:
    if not row["valid"]:
        return f"INVALID: {row['reasons'][0]}"
    return str(row["oracle"]["finding"] or row["oracle"]["why"] or "as predicted")
