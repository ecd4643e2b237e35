"""What overload does to a target, as figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from batchproof.bench.measurements.overload import Overload, Overloaded
from batchproof.reports.figure_names import figure
from batchproof.reports.figures import Figure


def figures(found: Overload) -> tuple[Figure, ...]:
    """Return the capacity, what becomes of each load, and how long a spike lasts.

    The loads are shares of the capacity, so none of them is a result where it is not.
    """
    known = not found.spoilt
    return (
        figure("overload.capacity_rows_per_s", found.capacity, valid=known),
        *(one for row in found.rows for one in _of_load(row, found.capacity, known=known)),
        *(
            figure("overload.recovery_ns", spike.recovery_ns, valid=spike.valid and known, limit=spike.limit)
            for spike in found.spikes
            if spike.recovery_ns is not None
        ),
    )


def _of_load(row: Overloaded, capacity: float, *, known: bool) -> Iterator[Figure]:
    served = row.service
    about: dict[str, Any] = {"n": served.requests, "valid": row.valid and known, "limit": row.limit, "load": row.load}
    yield figure("overload.goodput_rows_per_s", served.goodput, **about)
    if capacity:
        yield figure("overload.goodput_share", served.goodput / capacity, **about)
    if served.answered_p99_ns is not None:
        yield figure("overload.answered_p99_ns", served.answered_p99_ns, **about)
    if row.fairness.least_to_mean is not None:
        yield figure("overload.least_to_mean", row.fairness.least_to_mean, **about)
