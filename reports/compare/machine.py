"""Whether two runs come from one kind of machine, and what it costs to compare them if they do not.

A time is made of waiting, of computing and of waking somebody up. Waiting takes as long on any machine; what computing and
waking up take is measured with each bench by two yardsticks (`host.compute_ns`, `host.handover_ns`). So between two
machines a time changes by some factor between the least and the greatest of 1 and the two yardsticks' ratios. Which one is
not known, because no yardstick knows what a target spends its time with: the whole range becomes uncertainty.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from batchproof.reports.figures import Figure
from batchproof.reports.measured import Measured
from batchproof.reports.wording import line

# The facts of a header's host that make a difference to speed, as people read them.
FACTS = {
    "fingerprint": "hardware by its fingerprint", "cpu": "processor", "cpus": "processors", "cores": "processors to use",
    "cpu_quota": "processor quota", "memory": "memory", "machine": "architecture", "kernel": "kernel", "awake": "kept awake",
    "python": "Python", "numpy": "numpy", "torch": "torch", "OMP_NUM_THREADS": "OMP_NUM_THREADS",
}  # fmt: skip
YARDSTICKS = {"host.compute_ns": "computing", "host.handover_ns": "waking up"}
LONGEST_NS = 60e9  # of a yardstick that is to be believed: both take about a millisecond or less
NOT_MEASURED = ("gpu.",)  # no yardstick measures a GPU
TIMES = ("ns", "us", "ms", "s", "per million")  # a cost is the price of a time


@dataclass(frozen=True)
class Correction:
    """By what factor times may differ between two machines: from `least` to `most`, new over base.

    parts: the factor of each yardstick, with bounds, in words.
    """

    least: float = 1.0
    most: float = 1.0
    parts: tuple[str, ...] = ()

    def explains(self, one: Figure) -> tuple[float, float]:
        """Return between which factors the machines alone may change a figure, new over base.

        A rate changes as the time behind it does, the other way round. A ratio of two times may change by as much as both
        of them, one up and the other down.
        """
        if one.unit in TIMES:
            return self.least, self.most
        if "/" in one.unit:
            return 1 / self.most, 1 / self.least
        return self.least / self.most, self.most / self.least

    def covers(self, one: Figure) -> bool:
        """Whether the yardsticks say anything of this figure."""
        return not one.name.startswith(NOT_MEASURED)


def differences(base: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[str, ...]:
    """Return in what two hosts differ, in words; empty if nothing is known in which they do."""
    return tuple(
        f"{word} {_shown(base.get(fact))} and {_shown(new.get(fact))}"
        for fact, word in FACTS.items()
        if base.get(fact) != new.get(fact)
    )


def known(host: Mapping[str, Any]) -> bool:
    """Whether a run says on what kind of machine it was made; early versions of Batchproof did not."""
    return "cpu" in host or host.get("fingerprint", "unknown") != "unknown"


def simulated(run: Measured) -> bool:
    """Whether nothing in a run depends on its machine, because time was simulated and no torch model was run."""
    torch = set(run.header.get("works", ())) - {"accelerator"}
    on_gpu = any(one.name.startswith(NOT_MEASURED) for one in run.figures)
    return run.header["target"]["sight"] == "virtual" and not torch and not on_gpu


def yardsticks(runs: Sequence[Measured]) -> dict[str, tuple[float, float]]:
    """Return the bounds of each yardstick over all runs: the least lower and the greatest upper one.

    A yardstick that some run lacks, of which a run does not know the bounds, or that no host can have, is left out.
    """
    found = {}
    for name in YARDSTICKS:
        sides = [[one for one in run.figures if one.name == name] for run in runs]
        bounds = [(one.low, one.high) for side in sides for one in side]
        if all(sides) and all(low and high and low >= 1 and high <= LONGEST_NS for low, high in bounds):
            found[name] = min(low for low, _ in bounds if low), max(high for _, high in bounds if high)
    return found


def correction(base: Sequence[Measured], new: Sequence[Measured]) -> Correction | None:
    """Return by what times may differ, new over base; None if a yardstick is missing."""
    before, after = yardsticks(base), yardsticks(new)
    if before.keys() & after.keys() != YARDSTICKS.keys():
        return None
    ratios = {name: (after[name][0] / before[name][1], after[name][1] / before[name][0]) for name in YARDSTICKS}
    least = min(1.0, *(low for low, _ in ratios.values()))
    most = max(1.0, *(high for _, high in ratios.values()))
    parts = tuple(f"{YARDSTICKS[name]} {low:.2f} to {high:.2f}" for name, (low, high) in ratios.items())
    return Correction(least, most, parts)


def drift(base: Sequence[Measured], new: Sequence[Measured], margin: float) -> Iterator[str]:
    """Yield in words by which yardstick one kind of machine was not in the same state, by more than the margin.

    That is a hint and not a correction: the two sides were measured at different times, and so were their neighbours.
    """
    before, after = yardsticks(base), yardsticks(new)
    for name, word in YARDSTICKS.items():
        if name in before and name in after:
            low, high = after[name][0] / before[name][1], after[name][1] / before[name][0]
            if low > 1 + margin or high < 1 / (1 + margin):
                factor = math.sqrt(low * high)
                yield f"{word} took {factor:.2f} times as long in NEW ({low:.2f} to {high:.2f})"


def _shown(value: object) -> str:
    return "unknown" if value is None else "yes" if value is True else "no" if value is False else line(value)
