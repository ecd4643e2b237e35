"""The service times of each work as figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from batchproof.bench.calibration import Calibration
from batchproof.bench.each_work import Works
from batchproof.bench.figures.of_run import median_of
from batchproof.reports.figure_names import figure
from batchproof.reports.figures import Figure


def figures(found: Works[Calibration]) -> tuple[Figure, ...]:
    """Return the times of each batch size, and the limit that follows from them."""
    return tuple(one for name, work in found.works.items() for one in _of_work(name, work))


def _of_work(work: str, found: Calibration) -> Iterator[Figure]:
    for timed in found.timed:
        low, high = timed.interval_ns
        known: dict[str, Any] = {"n": len(timed.inside_ns), "valid": not timed.wide, "work": work, "rows": timed.rows}
        yield figure("static.tau_ns", timed.tau_ns, low=low, high=high, **known)
        client = median_of([float(ns) for ns in timed.through_ns])
        yield figure("static.client_ns", timed.seen_ns, low=client.low, high=client.high, **known)
    best = max(found.timed, key=lambda one: one.rows_per_s)
    low, high = best.interval_ns
    yield figure(
        "static.limit_rows_per_s",
        best.rows_per_s,
        low=best.rows * 1e9 / high if high else None,
        high=best.rows * 1e9 / low if low else None,
        n=len(best.inside_ns),
        valid=found.valid,
        work=work,
    )
