"""What overload does to a target."""

from __future__ import annotations

from batchproof.bench.measurements.overload import Overload, Overloaded
from batchproof.bench.tables.table import Cell, Table, in_short_ms

HEADS = (
    "limit",
    "load",
    "valid",
    "goodput /s",
    "refused",
    "p50 ms",
    "p99 ms",
    "answered p99",
    "most inside",
    "bound",
    "grows s/s",
    "least/mean",
    "Jain",
)


def tables(found: Overload) -> tuple[Table, ...]:
    """Return a row for each load, and one for each spike."""
    rows = [[row.limit, row.load, row.valid, *(_cells(row) if row.valid else [None] * 10)] for row in found.rows]
    spikes = [
        [
            spike.limit,
            spike.valid,
            *map(in_short_ms, (spike.recovery_ns, spike.expected_ns) if spike.valid else (None, None)),
        ]
        for spike in found.spikes
    ]
    return (
        Table("Offered load against capacity", HEADS, rows),
        Table("After a spike", ("limit", "valid", "recovery ms", "by theory ms"), spikes),
    )


def _cells(row: Overloaded) -> list[Cell]:
    served, fair = row.service, row.fairness
    return [
        round(served.goodput, 1),
        served.unanswered,
        in_short_ms(served.p50_ns),
        in_short_ms(served.p99_ns),
        in_short_ms(served.answered_p99_ns),
        row.most_inside,
        row.bound,
        *(None if value is None else round(value, 3) for value in (row.growth, fair.least_to_mean, fair.jain)),
    ]
