"""Static batching: what a batch of b rows takes, alone on the model, and where larger ones stop paying.

A torch model is executed directly, on one thread that is bound to one OpenMP thread, as a batcher's worker would. The
accelerator is asked through the target: one request of b rows at a time, and its witness says how long the batch was in it.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from batchproof.bench.measurement import Bench, Result
from batchproof.bench.oracle.curve import Curve
from batchproof.load.workload import MS, Served, Skipped, Work
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.stats.arrays import NEVER
from batchproof.stats.percentile import interval
from batchproof.targets.protocol import Refused, TargetError
from batchproof.targets.witness.probe import INFO

SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
ROUNDS = (40, 15)  # full, quick
LONGEST_S = (10.0, 1.5)  # a larger batch is left out where one would take longer than this
BUDGET_S = (60.0, 6.0)  # of one work
WIDE = 1.25  # an interval of tau(b) that spans more than this is no figure to compare with
AGAIN = 2  # times that such sizes are timed again
ENTER, EXIT = INFO.index("enter_ns"), INFO.index("exit_ns")

Times = tuple[int, int]  # of one batch, in ns: in the model, and as the client saw it
Execute = Callable[[int], Times]


@dataclass(frozen=True)
class Timed:
    """One batch size. inside_ns: times in the model; through_ns: from the sending to the answer; one a round."""

    rows: int
    inside_ns: tuple[int, ...]
    through_ns: tuple[int, ...]

    @property
    def tau_ns(self) -> int:
        """The median time in the model."""
        return max(1, round(statistics.median(self.inside_ns)))

    @property
    def wide(self) -> bool:
        """The median is not known well enough to compare with."""
        low, high = _interval(self.inside_ns)
        return bool(low and high) and high > WIDE * low  # type: ignore[operator]

    def more(self, other: Timed) -> Timed:
        """Return both rounds of the same size."""
        return Timed(self.rows, self.inside_ns + other.inside_ns, self.through_ns + other.through_ns)

    def to_json(self) -> Result:
        """Return the figures: medians with the 99 % interval of order statistics; rows/s of such batches back to back."""
        low, high = _interval(self.inside_ns)
        return {
            "rows": self.rows,
            "n": len(self.inside_ns),
            "tau_ns": self.tau_ns,
            "tau_low_ns": low,
            "tau_high_ns": high,
            "mean_ns": round(statistics.fmean(self.inside_ns)),
            "through_ns": round(statistics.median(self.through_ns)),
            "rows_per_s": self.rows * 1e9 / self.tau_ns,
        }


def measure(bench: Bench) -> Result:
    """Measure the curve of each work; leaves them in `bench.curves`."""
    works = {work.name: of_work(bench, work) for work in bench.works}
    reasons = [f"{name}: {reason}" for name, one in works.items() for reason in one["reasons"]]
    return {
        "valid": not reasons,
        "reasons": reasons,
        "verdict": "",
        "headline": "; ".join(f"{name}: {one['says']}" for name, one in works.items()),
        "tables": [_table(name, one) for name, one in works.items()],
        "works": works,
    }


def curve_of(bench: Bench, work: Work) -> Curve:
    """Return the work's curve: as measured earlier in this bench, else measured now."""
    if work.name not in bench.curves:
        of_work(bench, work)
    return bench.curves[work.name]


def of_work(bench: Bench, work: Work) -> Result:
    """Measure one work: its points, the fitted line, the knee."""
    bench.say(f"{work.name}: batches of 1 to {SIZES[-1]} rows, one at a time")
    timed, left_out = _direct(bench, work) if work.model else _through(bench, work)
    bench.fastest_ns[work.name] = max(1, min(timed[0].inside_ns))
    curve = bench.curves[work.name] = Curve(tuple(t.rows for t in timed), tuple(t.tau_ns for t in timed))
    points = [one.to_json() for one in timed]
    ways_ns = [one["through_ns"] - one["tau_ns"] for one in points]
    bench.ways_ns[work.name] = max(0, round(statistics.median(ways_ns)))
    base_ns, row_ns, worst = curve.fit()
    knee = curve.knee()
    wide = [one.rows for one in timed if one.wide]
    return {
        "reasons": [f"tau of {', '.join(map(str, wide))} rows is uncertain by more than {WIDE - 1:.0%}"] if wide else [],
        "says": knee.reason,
        "model": work.says,
        "points": points,
        "left_out": left_out,
        "fit": {"base_ns": base_ns, "row_ns": row_ns, "worst_residual": worst},
        "knee": vars(knee),
        "way_ns": bench.ways_ns[work.name],
        "ceiling": curve.ceiling(curve.sizes[-1]),
        "limit_rows_per_s": curve.limit(curve.sizes[-1]),
    }


def in_rounds(execute: Execute, sizes: Sequence[int], rounds: int, longest_s: float, budget_s: float) -> list[Timed]:
    """Time a batch of each size in turn, over and over, so that a slow spell of the host meets all sizes alike.

    Sizes that would take longer than longest_s (as the last two grew) are left out; no round begins after budget_s.
    """
    first: dict[int, Times] = {}
    for size in sizes:  # the warm-up, and how far up it is worth going
        known = sorted(first)
        if known and first[known[-1]][1] * size / known[-1] > longest_s * 1e9:
            break
        execute(size)
        first[size] = execute(size)
    round_ns = sum(through for _, through in first.values())
    fitting = max(2, min(rounds, int(budget_s * 1e9 / max(1, round_ns)) - 2))
    found = {size: [first[size]] for size in first}
    for _ in range(fitting - 1):
        for size in first:
            found[size].append(execute(size))
    return [Timed(size, tuple(i for i, _ in times), tuple(t for _, t in times)) for size, times in found.items()]


def _through(bench: Bench, work: Work) -> tuple[list[Timed], list[int]]:
    config = BatcherConfig(max_batch_size=SIZES[-1])
    with bench.serve(work, config) as served:
        timed = _timed(bench, lambda rows: _ask(served, rows, bench.wait_ns))
    return timed, [size for size in SIZES if size > timed[-1].rows]


def _ask(served: Served, rows: int, wait_ns: int) -> Times:
    """Time one request of so many rows; what the witness says of it, where it is the same host's clock that counts."""
    clock = served.clock
    sent_ns = clock.now_ns()
    future = served.submit(0, rows=rows)
    done: list[int] = []
    future.add_done_callback(lambda _: done.append(clock.now_ns()))
    if not clock.wait(lambda: bool(done), sent_ns + wait_ns):
        raise TargetError(f"no answer to a request of {rows} rows after {wait_ns / 1e9:.0f} s")
    try:
        info = getattr(future.result(timeout=0), "info", None)
    except Refused as refused:
        raise TargetError(f"a request of {rows} rows was refused: {refused.message}") from None
    through_ns = done[0] - sent_ns
    inside_ns = through_ns if info is None else int(info[0][EXIT] - info[0][ENTER])
    return inside_ns, through_ns


def _direct(bench: Bench, work: Work) -> tuple[list[Timed], list[int]]:
    try:
        import torch

        from batchproof.load.models import bound_to, build
    except ModuleNotFoundError as error:
        raise Skipped(f"{work.name} needs '{error.name}': pip install 'batchproof[reference]'") from None
    module, inputs = build(work.model)
    model = bound_to(module, 1)

    def execute(rows: int) -> Times:
        batch = inputs(rows)
        with torch.inference_mode():
            start_ns = time.perf_counter_ns()
            model(batch)
            took_ns = time.perf_counter_ns() - start_ns
        return took_ns, took_ns

    with ThreadPoolExecutor(1) as worker:  # as a batcher does: not on the main thread
        timed = worker.submit(_timed, bench, execute).result()
    if model.seen != {1}:
        raise TargetError(f"the model ran with {model.seen} OpenMP threads, not with 1: its times mean nothing")
    return timed, [size for size in SIZES if size > timed[-1].rows]


def _timed(bench: Bench, execute: Execute) -> list[Timed]:
    """Time all sizes; those whose figures a stalling host has spoilt again."""
    at = int(bench.quick)
    found = in_rounds(execute, SIZES, ROUNDS[at], LONGEST_S[at], BUDGET_S[at])
    for _ in range(AGAIN):
        if not (wide := [one.rows for one in found if one.wide]):
            break
        more = {one.rows: one for one in in_rounds(execute, wide, ROUNDS[at], LONGEST_S[at], BUDGET_S[at] / 2)}
        found = [one.more(more[one.rows]) if one.rows in more else one for one in found]
    return found


def _interval(values: Sequence[int]) -> tuple[int | None, int | None]:
    """The 99 % interval of the median; None on a side where there are too few values for a bound."""
    low, high = interval(np.asarray(values, dtype=np.int64), 50)
    return low or None, None if high == NEVER else high


def _table(name: str, one: Result) -> dict[str, Any]:
    rows = [
        [
            p["rows"],
            p["n"],
            *(ns and ns / MS for ns in (p["tau_ns"], p["tau_low_ns"], p["tau_high_ns"], p["through_ns"])),
            p["rows_per_s"],
        ]
        for p in one["points"]
    ]
    fit = one["fit"]
    says = f"Fitted: {fit['base_ns'] / MS:.4g} ms + {fit['row_ns'] / MS:.4g} ms a row"
    return {
        "title": f"{name}: {one['model']}",
        "heads": ["rows", "n", "average latency ms", "from", "to", "at the client ms", "requests/s"],
        "rows": rows,
        "note": f"{says} (worst residual {fit['worst_residual']:.1%}). {one['says']}.",
    }
