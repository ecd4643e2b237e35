"""The measurements of a bench, in the order in which they are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from batchproof.bench import figures, tables
from batchproof.bench.fit import BATCHES
from batchproof.bench.measurement import Bench
from batchproof.bench.measurements import cost, gpu, isolation, naive, overload, sequences, static, sweep
from batchproof.bench.result import Result
from batchproof.bench.tables.table import Table
from batchproof.reports.figures import Figure
from batchproof.targets.claims import noun_of, unmet
from batchproof.targets.protocol import TargetInfo


@dataclass(frozen=True)
class Measurement:
    """A line of the plan.

    question: what it answers. quick_s, full_s: seconds for each work, as expected on two cores. measure: makes it. tables:
    lays out what it found, which is never None. whole: several works take no longer than one. needs: what the target has to
    claim, or the measurement says nothing about it. figures: the numbers in it that have permanent ids.
    """

    name: str
    question: str
    quick_s: float
    full_s: float
    measure: Callable[[Bench, Any], Result]
    tables: Callable[[Any], tuple[Table, ...]]
    whole: bool = False
    needs: tuple[str, ...] = ()
    figures: Callable[[Any], tuple[Figure, ...]] = lambda _found: ()

    def lacks(self, target: TargetInfo) -> str:
        """Return why this target cannot be measured so, by its claims; empty if it can."""
        need = unmet(target.claims, self.needs)
        return f"{target.name} does not claim {noun_of(need)}" if need else ""

    def expected_s(self, bench: Bench) -> float:
        """Return about how long it takes."""
        return bench.seconds(self.full_s, self.quick_s) * (1 if self.whole else len(bench.works))

    def tables_of(self, result: Result) -> tuple[Table, ...]:
        """Return the tables of a result. A result without figures has no tables."""
        return self.tables(result.found) if result.found else ()

    def figures_of(self, result: Result) -> tuple[Figure, ...]:
        """Return the figures of a result, with permanent ids; there are none where nothing was found."""
        return self.figures(result.found) if result.found else ()


# The calibration comes first, as all that follow compare with it.
MEASUREMENTS = (
    Measurement(
        "static",
        "what a batch of b rows takes, and where the knee is",
        6,
        25,
        static.measure,
        tables.static.tables,
        figures=figures.static.figures,
    ),
    Measurement(
        "naive",
        "does batching pay, against one request at a time",
        10,
        50,
        naive.measure,
        tables.naive.tables,
        needs=BATCHES,
        figures=figures.naive.figures,
    ),
    Measurement(
        "sweep",
        "which size and delay, closed and open loop, alongside the oracle",
        26,
        350,
        sweep.measure,
        tables.sweep.tables,
        needs=BATCHES,
        figures=figures.sweep.figures,
    ),
    Measurement(
        "isolation",
        "who suffers when another model or level is busy",
        24,
        90,
        isolation.measure,
        tables.isolation.tables,
        whole=True,
        figures=figures.isolation.figures,
    ),
    Measurement(
        "overload",
        "goodput, refusals and recovery at 0.5 to 3 times the capacity",
        28,
        180,
        overload.measure,
        tables.overload.tables,
        whole=True,
        figures=figures.overload.figures,
    ),
    Measurement(
        "sequences",
        "steps a second, and what a step takes, against the number of open sequences",
        30,
        240,
        sequences.measure,
        tables.sequences.tables,
        needs=sequences.NEEDS,
        figures=figures.sequences.figures,
    ),
    Measurement(
        "cost",
        "what a million inferences cost",
        1,
        1,
        cost.measure,
        tables.cost.tables,
        needs=BATCHES,
        figures=figures.cost.figures,
    ),
    Measurement("gpu", "the same on CUDA", 20, 90, gpu.measure, tables.gpu.tables, whole=True, figures=figures.gpu.figures),
)


def by_name() -> dict[str, Measurement]:
    """Return the plan by name."""
    return {one.name: one for one in MEASUREMENTS}
