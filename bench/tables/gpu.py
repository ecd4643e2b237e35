"""Torch models on CUDA."""

from __future__ import annotations

from batchproof.bench.measurements.gpu import Gpu, GpuModel
from batchproof.bench.tables.table import Table, in_ms

HEADS = ("rows", "latency ms", "not pinned ms", "requests/s, 1 stream", "2 streams", "utilisation %")


def tables(found: Gpu) -> tuple[Table, ...]:
    """Return a table for each model."""
    return tuple(_table(name, one) for name, one in found.models.items())


def _table(name: str, one: GpuModel) -> Table:
    rows = [
        [
            point.rows,
            in_ms(point.tau_ns),
            in_ms(point.unpinned_ns),
            point.rows_per_s_1_stream,
            point.rows_per_s_2_streams,
            point.utilisation_percent,
        ]
        for point in one.points
    ]
    return Table(f"{name} on CUDA", HEADS, rows, f"{one.says}.")
