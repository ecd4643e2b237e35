"""Each point of a sweep, with its oracle."""

from __future__ import annotations

from batchproof.bench.each_work import Works
from batchproof.bench.measurements.sweep import GATE, Observed, Sweep
from batchproof.bench.tables.table import MS, Cell, Table, in_ms
from batchproof.stats.gates import INCONCLUSIVE
from batchproof.stats.percentile import fewest

SHOWN = 3  # findings in words; the tables have them all
CLOSED_HEADS = ("max_batch_size", "delay ms", "clients", "requests/s", "oracle", "ratio", "share of the limit", "")
OPEN_HEADS = (
    "max_batch_size",
    "delay ms",
    "of capacity",
    "requests/s",
    "mean ms",
    "oracle",
    "ratio",
    "p99 ms",
    "oracle",
    "",
)


def tables(found: Works[Sweep]) -> tuple[Table, ...]:
    """Return two tables for each work."""
    return tuple(table for name, one in found.works.items() for table in _of_work(name, one))


def _of_work(name: str, one: Sweep) -> tuple[Table, ...]:
    closed = [
        [*_where(row), row.load["clients"], *_compared(row, "throughput"), row.share if row.valid else None, _status(row)]
        for row in one.closed
    ]
    gate = f"Threshold {GATE}: 99 % bounds of the ratio of medians over eighths of the runs."
    title = f"{name}: at fractions of the capacity, Poisson arrivals, latency from the schedule"
    return (
        Table(f"{name}: saturated, closed loop", CLOSED_HEADS, closed, f"{one.says}. {gate}"),
        Table(title, OPEN_HEADS, [_open(row) for row in one.open], _note(one)),
    )


def _open(row: Observed) -> list[Cell]:
    mean, mean_told, _ = _compared(row, "mean_ns")
    p99, p99_told, _ = _compared(row, "p99_ns", fewest(99))
    ratio = row.oracle.ratios["mean_ns"] if row.valid else None
    throughput = row.run.throughput if row.valid else None
    times = (in_ms(mean), in_ms(mean_told), ratio, in_ms(p99), in_ms(p99_told))
    return [*_where(row), row.load["fraction"], throughput, *times, _status(row)]


def _note(one: Sweep) -> str:
    rows = [*one.closed, *one.open]
    judged = sum(row.oracle.verdict != INCONCLUSIVE for row in rows)
    if one.findings:
        return "; ".join([*one.findings[:SHOWN], *filter(None, [one.caveat])]) + "."
    told = f"{judged} of {len(rows)} points could be compared with their oracle"
    return f"{told}, and none is slower." if judged else f"{told}."


def _where(row: Observed) -> list[Cell]:
    return [row.config.max_batch_size, row.config.max_queue_delay_ns / MS]


def _compared(row: Observed, name: str, least: int = 0) -> tuple[float | None, float | None, float | None]:
    """Measured, predicted and their ratio; for a run that is invalid or too short, only what is predicted."""
    oracle = row.oracle
    if not row.valid or row.run.samples.count < least:
        return None, oracle.predicted[name], None
    return oracle.measured[name], oracle.predicted[name], oracle.ratios[name]


def _status(row: Observed) -> str:
    if not row.valid:
        return f"INVALID: {row.run.validity.reasons[0]}"
    return row.oracle.finding or row.oracle.why or "as predicted"
