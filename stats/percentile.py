"""Percentiles of times by one convention, nearest rank, and how far to trust them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from batchproof.stats.arrays import NEVER, Ints
from batchproof.stats.quantiles import CONFIDENCE, bounding_ranks


def percentile(values_ns: Ints, percent: float) -> int:
    """Return the nearest-rank percentile (numpy's `inverted_cdf`): always an observed value, NEVER sorts last.

    ValueError without values, or if percent is not in (0, 100].
    """
    rank = _rank(len(values_ns), percent)
    return int(np.partition(values_ns, rank - 1)[rank - 1])


def percentiles(values_ns: Ints, percents: tuple[float, ...]) -> tuple[int, ...]:
    """Return several percentiles; sorts once."""
    ordered = np.sort(values_ns)
    return tuple(int(ordered[_rank(len(ordered), percent) - 1]) for percent in percents)


def interval(values_ns: Ints, percent: float, confidence: float = CONFIDENCE, tau: float = 1.0) -> tuple[int, int]:
    """Return the order statistics between which the true percentile lies with at least this confidence, two-sided.

    tau: how many values are worth one independent value (`autocorrelation.integrated_time`); the ranks are then those of
    a sample of n / tau. (0, ...) or (..., NEVER) where so few values have no bound on that side.
    """
    count = len(values_ns)
    _rank(count, percent)
    effective = max(1, int(count / max(1.0, tau)))
    low, high = bounding_ranks(effective, percent / 100, (1 + confidence) / 2)
    ordered = np.sort(values_ns)
    low_ns = int(ordered[_stretched(low, effective, count, up=False) - 1]) if low else 0
    high_ns = int(ordered[_stretched(high, effective, count, up=True) - 1]) if high <= effective else NEVER
    return low_ns, high_ns


def fewest(percent: float, confidence: float = CONFIDENCE) -> int:
    """Return how many independent values an upper bound on the percentile needs: the least n with p^n <= 1 - confidence.

    459 for p99: with fewer, even the largest one observed may be below the true percentile.
    """
    return math.ceil(math.log(1 - confidence) / math.log(percent / 100))


def _rank(count: int, percent: float) -> int:
    """Return the nearest rank, from 1; in fractions, so that 99.9 % of 1000 is 999 and not 999.0000001."""
    if not count:
        raise ValueError("no values, no percentile")
    if not 0 < percent <= 100:
        raise ValueError(f"a percentile is above 0 and at most 100, not {percent}")
    return math.ceil(count * Fraction(str(percent)) / 100)


def _stretched(rank: int, effective: int, count: int, *, up: bool) -> int:
    """Return the rank among all values that has the same share as `rank` among the effective ones."""
    exact = Fraction(rank * count, effective)
    return min(count, math.ceil(exact)) if up else max(1, math.floor(exact))
