"""Open sequences: what each strategy serves, and how long a step takes."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from batchproof.bench.each_work import Works
from batchproof.bench.measurements.naive import GATE
from batchproof.bench.measurements.sequences import Gain, Held, Stateful
from batchproof.bench.tables.table import Cell, Table, in_short_ms, percent

GAINS = ("work", "strategy", "alone steps/s", "batched steps/s", "ratio", "from", "to", "ceiling", "pairs", "verdict")
HEADS = ("strategy", "lengths", "open", "valid", "steps/s", "of the limit %", "p50 ms", "p99 ms", "slots filled %")
NOTE = "Slots filled: the share of the slots with a request when the model runs. With direct, others are padding."


def tables(found: Works[Stateful]) -> tuple[Table, ...]:
    """Return what batching gains, and for each work its loads in closed and in open loops."""
    note = f"Threshold {GATE}: one-sided 99 % bounds of the median ratio of interleaved pairs (sign test)."
    gains = [_gain(name, work.ceiling, one) for name, work in found.works.items() for one in work.gains]
    return (
        Table("One sequence at a time against all slots", GAINS, gains, note),
        *(table for name, work in found.works.items() for table in _loads(name, work)),
    )


def _loads(name: str, work: Stateful) -> Iterator[Table]:
    closed = [_row(work, one) for one in work.held if not one.load]
    yield Table(f"{name}: open sequences, closed loop, {work.slots} slots", HEADS, closed, NOTE)
    rows = [[one.strategy, one.load, *_row(work, one)[2:]] for one in work.held if one.load]
    heads = ("strategy", "load, of the slots", *HEADS[2:])
    yield Table(f"{name}: sequences that arrive, each with a step at a steady pace", heads, rows)


def _gain(work: str, ceiling: float, one: Gain) -> list[Cell]:
    low, high, judged, n = one.conclusion.low, one.conclusion.high, one.conclusion.verdict, one.conclusion.n
    if one.reasons:
        return [work, one.strategy, None, None, None, low, None, ceiling, n, judged]
    alone, batched = statistics.median(one.alone_per_s), statistics.median(one.batched_per_s)
    return [work, one.strategy, alone, batched, one.conclusion.estimate, low, high, ceiling, n, judged]


def _row(work: Stateful, one: Held) -> list[Cell]:
    at_once = None if one.sequences is None else round(one.sequences, 2)
    if not one.run.valid:
        return [one.strategy, one.lengths, at_once, False, *[None] * 5]
    served = one.run.throughput
    times = [in_short_ms(one.run.latency_ns(share)) for share in (50, 99)]
    limit = percent(served / work.limit_per_s)
    return [one.strategy, one.lengths, at_once, True, round(served, 1), limit, *times, percent(one.filled)]
