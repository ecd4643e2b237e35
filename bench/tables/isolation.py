"""Who suffers when another model, or a more urgent level, is busy."""

from __future__ import annotations

from batchproof.bench.measurements.isolation import OTHER_LOAD, Isolation, LevelRow, Levels, Models
from batchproof.bench.tables.table import Cell, Table, in_short_ms, percent

PHASE_HEADS = ("model", "phase", "offered /s", "p50 ms", "p99 ms", "within SLO %")
LEVEL_HEADS = (
    "urgent load",
    "valid",
    "urgent p99 ms",
    "within SLO %",
    "others served %",
    "by fluid limit %",
    "longest wait ms",
)


def tables(found: Isolation) -> tuple[Table, ...]:
    """Return a table of models, and one of levels where they were measured."""
    models = (_models(found.models),) if found.models.valid else ()
    return (*models, _levels(found.levels)) if isinstance(found.levels, Levels) else models


def _models(one: Models) -> Table:
    rows = [
        [
            model,
            name,
            round(part.service.offered, 1),
            in_short_ms(part.service.p50_ns),
            in_short_ms(part.service.p99_ns),
            percent(part.service.attainment),
        ]
        for model, parts in (("A", one.a), ("B", one.b))
        for name, part in parts.items()
    ]
    return Table("A critical model during a spike on another", PHASE_HEADS, rows)


def _levels(one: Levels) -> Table:
    rows = [[row.load, row.valid, *(_cells(row) if row.valid else [None] * 5)] for row in one.rows]
    return Table(f"Two priority levels in one model, others at {OTHER_LOAD:g} of capacity", LEVEL_HEADS, rows)


def _cells(row: LevelRow) -> list[Cell]:
    shares = (row.urgent.attainment, row.starvation.served_share, row.fluid_share)
    return [in_short_ms(row.urgent.p99_ns), *map(percent, shares), in_short_ms(row.starvation.longest_wait_ns)]
