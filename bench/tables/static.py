"""The service times of each work."""

from __future__ import annotations

from batchproof.bench.calibration import Calibration
from batchproof.bench.each_work import Works
from batchproof.bench.tables.table import MS, Table, in_ms

HEADS = ("rows", "n", "average latency ms", "from", "to", "at the client ms", "requests/s")


def tables(found: Works[Calibration]) -> tuple[Table, ...]:
    """Return a table for each work."""
    return tuple(_table(name, one) for name, one in found.works.items())


def _table(name: str, one: Calibration) -> Table:
    rows = [
        [
            size.rows,
            len(size.inside_ns),
            *(in_ms(ns) for ns in (size.tau_ns, *size.interval_ns, size.seen_ns)),
            size.rows_per_s,
        ]
        for size in one.timed
    ]
    base_ns, row_ns, worst = one.curve.fit()
    fitted = f"Fitted: {base_ns / MS:.4g} ms + {row_ns / MS:.4g} ms a row (worst residual {worst:.1%})"
    return Table(f"{name}: {one.work.says}", HEADS, rows, f"{fitted}. {one.says}.")
