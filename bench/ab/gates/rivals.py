"""Other rules, on the same blocks: what teams use in CI today."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from batchproof.bench.ab.question import BASE, NEW

THRESHOLD = 0.05
DOUBT = 0.01
RATE = "rows_per_s"
Rates = Sequence[float]
Rule = Callable[[Rates, Rates], bool]


def means(base: Rates, new: Rates) -> bool:
    """A threshold on means: the mean rate fell by more than 5 %."""
    return statistics.fmean(new) < (1 - THRESHOLD) * statistics.fmean(base)


def pytest_benchmark(base: Rates, new: Rates) -> bool:
    """`pytest-benchmark --benchmark-compare-fail=mean:5%`: the mean time of a round, here a block's time for a row."""
    took = [statistics.fmean(1 / rate for rate in side) for side in (base, new)]
    return took[1] > (1 + THRESHOLD) * took[0]


def mann_whitney(base: Rates, new: Rates) -> bool:
    """Mann-Whitney on all blocks of either side, without pairs: one-sided, 1 %."""
    from scipy.stats import mannwhitneyu

    return bool(mannwhitneyu(new, base, alternative="less").pvalue < DOUBT)


RULES: Mapping[str, Rule] = {
    "means: 5 %": means,
    "pytest-benchmark mean:5%": pytest_benchmark,
    "Mann-Whitney, 1 %": mann_whitney,
}


def rates(trial: Mapping[str, Any], side: str) -> list[float]:
    """Return the mean rate of each block of a side. A block that the gate dropped is used by no other rule either."""
    return [pair[side][RATE] for pair in trial["pairs"] if not pair["dropped"]]


def slower(trials: Sequence[Mapping[str, Any]], rule: Rule, *, stored: bool = False) -> tuple[int, int]:
    """Return how often a rule says that the new side is slower, and of how many trials.

    stored: each trial's new side is compared with the base of the trial before, as with a baseline that was stored.
    """
    before = [None, *trials[:-1]] if stored else list(trials)
    judged = [
        rule(rates(base, BASE), rates(trial, NEW))
        for base, trial in zip(before, trials, strict=True)
        if base is not None and rates(base, BASE) and rates(trial, NEW)
    ]
    return sum(judged), len(judged)
