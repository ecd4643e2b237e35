"""What a batch of b rows takes, alone on the model.

A torch model is executed directly, on one thread that is bound to one OpenMP thread, as a batcher's worker would execute it.
The accelerator is asked through the target: one request of b rows at a time, and its witness says how long the batch was in
the model.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from batchproof.load.workload import Served, Skipped, Work
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.stats.arrays import NEVER
from batchproof.stats.percentile import interval
from batchproof.targets.protocol import Refused, TargetError
from batchproof.targets.witness.probe import INFO

if TYPE_CHECKING:
    from batchproof.bench.measurement import Bench

SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
ROUNDS = (40, 15)  # full, quick
LONGEST_S = (10.0, 1.5)  # a larger batch is left out where one would take longer than this
BUDGET_S = (60.0, 6.0)  # for one work
WIDE = 1.25  # an interval of tau(b) that spans more than this is too wide to compare with
AGAIN = 2  # how often such sizes are timed again
ENTER, EXIT = INFO.index("enter_ns"), INFO.index("exit_ns")

Times = tuple[int, int]  # of one batch, in ns: in the model, and as the client saw it
Execute = Callable[[int], Times]


@dataclass(frozen=True)
class Timed:
    """One batch size. inside_ns: times in the model; through_ns: from the sending to the answer; one for each round."""

    rows: int
    inside_ns: tuple[int, ...]
    through_ns: tuple[int, ...]

    @property
    def tau_ns(self) -> int:
        """The median time in the model."""
        return max(1, round(statistics.median(self.inside_ns)))

    @property
    def interval_ns(self) -> tuple[int | None, int | None]:
        """The 99 % interval of that median; None on a side for which there are too few values."""
        low, high = interval(np.asarray(self.inside_ns, dtype=np.int64), 50)
        return low or None, None if high == NEVER else high

    @property
    def seen_ns(self) -> int:
        """The median time from the sending to the answer."""
        return round(statistics.median(self.through_ns))

    @property
    def rows_per_s(self) -> float:
        """Rows a second of such batches back to back."""
        return self.rows * 1e9 / self.tau_ns

    @property
    def wide(self) -> bool:
        """Whether the median is not known well enough to compare with."""
        low, high = self.interval_ns
        return low is not None and high is not None and high > WIDE * low

    def more(self, other: Timed) -> Timed:
        """Return both rounds of the same size."""
        return Timed(self.rows, self.inside_ns + other.inside_ns, self.through_ns + other.through_ns)

    def facts(self) -> dict[str, Any]:
        """Return JSON data: medians, with the 99 % interval of order statistics."""
        low, high = self.interval_ns
        return {
            "rows": self.rows,
            "n": len(self.inside_ns),
            "tau_ns": self.tau_ns,
            "tau_low_ns": low,
            "tau_high_ns": high,
            "mean_ns": round(statistics.fmean(self.inside_ns)),
            "through_ns": self.seen_ns,
            "rows_per_s": self.rows_per_s,
            "wide": self.wide,
        }


def service_times(bench: Bench, work: Work) -> tuple[Timed, ...]:
    """Time batches of each size of a work. Skipped if it cannot run here; TargetError if a request is not answered."""
    bench.say(f"{work.name}: batches of 1 to {SIZES[-1]} rows, one at a time")
    return tuple(_direct(bench, work) if work.model else _through(bench, work))


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


def timed(bench: Bench, execute: Execute) -> list[Timed]:
    """Time all sizes, and time those again whose figures a stalling host has spoilt."""
    at = int(bench.quick)
    found = in_rounds(execute, SIZES, ROUNDS[at], LONGEST_S[at], BUDGET_S[at])
    for _ in range(AGAIN):
        if not (wide := [one.rows for one in found if one.wide]):
            break
        more = {one.rows: one for one in in_rounds(execute, wide, ROUNDS[at], LONGEST_S[at], BUDGET_S[at] / 2)}
        found = [one.more(more[one.rows]) if one.rows in more else one for one in found]
    return found


def _through(bench: Bench, work: Work) -> list[Timed]:
    config = bench.fitted(BatcherConfig(max_batch_size=SIZES[-1]), crowded=False)
    with bench.serve(work, config) as served:
        return timed(bench, lambda rows: _ask(served, rows, bench.wait_ns))


def _ask(served: Served, rows: int, wait_ns: int) -> Times:
    """Time one request of this many rows, by the witness if it reads the same clock as the client."""
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


def _direct(bench: Bench, work: Work) -> list[Timed]:
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
        found = worker.submit(timed, bench, execute).result()
    if model.seen != {1}:
        raise TargetError(f"the model ran with {model.seen} OpenMP threads, not with 1: its times mean nothing")
    return found
