"""Percentiles by one convention, nearest rank, and how far to believe them. Needs numpy alone."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from batchproof.stats.arrays import NEVER, Ints

CONFIDENCE = 0.99
_ROUNDING = 1e-12  # of the sums: where the level is met exactly, it is met
_SIGMAS = 40.0  # below e-300 the tails of a binomial distribution are nothing


def percentile(values_ns: Ints, percent: float) -> int:
    """Return the nearest-rank percentile (numpy's `inverted_cdf`): always an observed value, NEVER sorts last.

    ValueError if there is no value, or percent is not in (0, 100].
    """
    rank = _rank(len(values_ns), percent)
    return int(np.partition(values_ns, rank - 1)[rank - 1])


def percentiles(values_ns: Ints, percents: tuple[float, ...]) -> tuple[int, ...]:
    """Return several percentiles; sorts once."""
    ordered = np.sort(values_ns)
    return tuple(int(ordered[_rank(len(ordered), percent) - 1]) for percent in percents)


def interval(values_ns: Ints, percent: float, confidence: float = CONFIDENCE, tau: float = 1.0) -> tuple[int, int]:
    """Return the order statistics between which the true percentile lies with at least this confidence, two-sided.

    Exact for any distribution of independent values (David and Nagaraja, Order Statistics, section 7.1). tau: of how many
    values each counts as one (`autocorrelation.integrated_time`); ranks are then those of a sample of n / tau.
    (0, ...) or (..., NEVER) where so few values have no bound on that side.
    """
    count = len(values_ns)
    _rank(count, percent)
    effective, share, tail = max(1, int(count / max(1.0, tau))), percent / 100, (1 - confidence) / 2
    low = binomial_quantile(effective, share, tail)  # X of this rank (from 1) is below the percentile
    high = binomial_quantile(effective, share, 1 - tail) + 1
    ordered = np.sort(values_ns)
    low_ns = int(ordered[_stretched(low, effective, count, up=False) - 1]) if low else 0
    high_ns = int(ordered[_stretched(high, effective, count, up=True) - 1]) if high <= effective else NEVER
    return low_ns, high_ns


def fewest(percent: float, confidence: float = CONFIDENCE) -> int:
    """Return how many independent values an upper bound on the percentile needs: the least n with p^n <= 1 - confidence.

    459 for p99: with fewer, even the largest one observed may be below the true percentile.
    """
    return math.ceil(math.log(1 - confidence) / math.log(percent / 100))


def binomial_quantile(count: int, share: float, level: float) -> int:
    """Return the least k with P[Bin(count, share) <= k] >= level; share and level in (0, 1)."""
    mean, sd = count * share, math.sqrt(count * share * (1 - share))
    first, last = max(0, int(mean - _SIGMAS * sd) - 1), min(count, int(mean + _SIGMAS * sd) + 1)
    k = np.arange(first, last)
    steps = np.log(count - k) - np.log(k + 1) + math.log(share / (1 - share))
    start = math.lgamma(count + 1) - math.lgamma(first + 1) - math.lgamma(count - first + 1)
    start += first * math.log(share) + (count - first) * math.log1p(-share)
    below = np.cumsum(np.exp(start + np.concatenate(([0.0], np.cumsum(steps)))))
    return first + int(np.searchsorted(below / below[-1], level * (1 - _ROUNDING)))


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
