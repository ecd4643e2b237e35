"""One request at a time against dynamic batching."""

from __future__ import annotations

from batchproof.bench.each_work import Works
from batchproof.bench.measurements.naive import GATE, Naive
from batchproof.bench.tables.table import Cell, Table

HEADS = ("work", "naive/s", "dynamic/s", "ratio", "from", "to", "ceiling", "share of the limit", "pairs", "verdict")


def tables(found: Works[Naive]) -> tuple[Table, ...]:
    """Return one table, with a row for each work."""
    note = f"Threshold {GATE}: one-sided 99 % bounds of the median ratio of interleaved pairs (sign test)."
    rows = [_row(name, one) for name, one in found.works.items()]
    return (Table("One request at a time against dynamic batching", HEADS, rows, note),)


def _row(name: str, one: Naive) -> list[Cell]:
    low, high, judged = one.conclusion.low, one.conclusion.high, one.verdict or "not judged"
    if one.medians_per_s is None:
        return [name, None, None, None, low, None, one.ceiling, None, one.conclusion.n, judged]
    naive, dynamic = one.medians_per_s
    share = dynamic / one.limit_per_s
    return [name, naive, dynamic, one.conclusion.estimate, low, high, one.ceiling, share, one.conclusion.n, judged]
