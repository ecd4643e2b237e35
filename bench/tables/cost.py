"""What a million inferences cost."""

from __future__ import annotations

from batchproof.bench.measurements.cost import Cost, WorkCost
from batchproof.bench.tables.table import Table, in_ms

NOTE = "Simulated from the measured curve under Poisson arrivals; '-': no configuration keeps it."


def tables(found: Cost) -> tuple[Table, ...]:
    """Return two tables for each work."""
    unit = f"{found.price.currency} a million"
    return tuple(table for name, one in found.works.items() for table in _of_work(name, one, unit))


def _of_work(name: str, one: WorkCost, unit: str) -> tuple[Table, ...]:
    batches = [[batch.rows, batch.per_s, in_ms(batch.tau_ns), batch.cost] for batch in one.batches]
    slos = [[in_ms(slo.slo_ns), slo.max_batch_size, slo.predicted_per_s or None, slo.cost] for slo in one.slos]
    heads = ("p99 at most ms", "max_batch_size", "requests/s (predicted)", unit)
    return (
        Table(f"{name}: cost of full batches", ("rows", "requests/s", "latency ms", unit), batches),
        Table(f"{name}: cost under an SLO", heads, slos, NOTE),
    )
