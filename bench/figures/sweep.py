"""Each point of a sweep as figures: saturated, and at shares of its capacity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from batchproof.bench.each_work import Works
from batchproof.bench.figures.of_run import latencies, quotient, rate
from batchproof.bench.measurements.sweep import Observed, Sweep
from batchproof.reports.figure_names import figure
from batchproof.reports.figures import Figure


def figures(found: Works[Sweep]) -> tuple[Figure, ...]:
    """Return the best rate, what it gains, the rate of each configuration, and the latencies under open loops."""
    return tuple(one for name, work in found.works.items() for one in _of_work(name, work))


def _of_work(work: str, found: Sweep) -> Iterator[Figure]:
    sure = _best_is_known(found)
    best, smallest = (rate(point.run, point.size) for point in (found.best, found.smallest))
    yield figure(
        "sweep.best_rows_per_s",
        found.best.run.throughput,
        low=best.low,
        high=best.high,
        n=best.n,
        valid=sure,
        work=work,
    )
    if (gain := quotient(best, smallest)) and gain.estimate:
        valid = sure and found.valid
        yield figure("sweep.gain", gain.estimate, low=gain.low, high=gain.high, n=gain.n, valid=valid, work=work)
    for point in found.closed:
        told = rate(point.run, point.size)
        where: dict[str, Any] = {"work": work, **_where(point)}
        known: dict[str, Any] = {"low": told.low, "high": told.high, "n": told.n, "valid": point.valid}
        yield figure("sweep.rows_per_s", point.run.throughput, **known, **where)
    for row in found.open:
        at: dict[str, Any] = {"work": work, "load": row.load["fraction"], **_where(row)}
        yield from latencies("open", row.run.samples.latency_ns, valid=row.valid, **at)


def _best_is_known(found: Sweep) -> bool:
    """Say whether no larger batch might serve more: the best of the points that the host has spared need not be the best."""
    return found.best.valid and not any(not point.valid and point.size > found.best.size for point in found.closed)


def _where(point: Observed) -> dict[str, object]:
    return {"size": point.size, "delay": f"{point.config.max_queue_delay_ns / 1e6:g}ms"}
