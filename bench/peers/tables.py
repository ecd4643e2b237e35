"""What `batchproof lab peers` and `batchproof lab reference-speed` show. A figure of an invalid run is not shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from batchproof.bench.tables.table import Cell, Table

Row = Mapping[str, Any]

SPEED_HEADS = {
    "saturation": ("tau_ns", "max_batch", "per_s", "limit_per_s", "share", "share_of_device", "mean_batch", "p99_us"),
    "overhead": ("clients", "max_batch", "per_s", "each_us", "processor_us", "p50_us", "p99_us"),
    "added": ("delay_ns", "p50_us", "p99_us"),
    "held": ("share", "rate_per_s", "p50_us", "p99_us", "slo_us", "verdict"),
    "torch": ("max_batch", "per_s", "p50_us", "p99_us", "threads"),
}
ASKED = {"tau_ns", "max_batch", "limit_per_s", "clients", "delay_ns", "rate_per_s", "slo_us", "threads"}
CLOSED_HEADS = ("load", "peer", "per_s", "limit_share", "p50_us", "p99_us", "reference_over_it")
OPEN_HEADS = ("load", "rate_per_s", "peer", "p50_us", "p99_us")


def speed_tables(found: Mapping[str, Sequence[Row]]) -> tuple[Table, ...]:
    """Return a table for each part of the reference batcher's speed."""
    shown = []
    for name, heads in SPEED_HEADS.items():
        asked = ASKED | ({"share"} if name == "held" else set())
        rows = [[_speed_cell(row, head, asked) for head in heads] for row in found[name] if "skipped" not in row]
        shown.append(Table(name, heads, rows))
    return tuple(shown)


def comparison_tables(found: Mapping[str, Any]) -> tuple[Table, ...]:
    """Return the peers in a closed loop and in an open one."""
    closed = [[_peer_cell(row, head) for head in CLOSED_HEADS] for row in found["closed"]]
    opened = [[_peer_cell(row, head) for head in OPEN_HEADS] for row in found["open"]]
    return (
        Table("Closed loop, 2 x max_batch clients", CLOSED_HEADS, closed),
        Table("Open loop, Poisson", OPEN_HEADS, opened),
    )


def as_text(shown: Sequence[Table]) -> str:
    """Return tables as Markdown."""
    lines = []
    for table in shown:
        lines += ["", f"**{table.title}**", "", f"| {' | '.join(table.heads)} |", "|---" * len(table.heads) + "|"]
        lines += [f"| {' | '.join('' if cell is None else str(cell) for cell in row)} |" for row in table.rows]
    return "\n".join(lines).strip()


def _speed_cell(row: Row, head: str, asked: set[str]) -> Cell:
    """What was asked for stands there whether the run is valid or not."""
    if head not in asked and not row.get("valid", True):
        return "INVALID"
    return _rounded(row.get(head), 1)


def _peer_cell(row: Row, head: str) -> Cell:
    if head not in ("load", "peer", "rate_per_s"):
        if "skipped" in row:
            return "skipped"
        if not row["valid"]:
            return "INVALID"
    return _rounded(row.get(head), 0)


def _rounded(value: Any, digits: int) -> Cell:
    return round(value, 3 if value < 10 else digits) if isinstance(value, float) else value
