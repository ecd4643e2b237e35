"""Signed ranks: the middle of a symmetric distribution, and bounds of it that hold whatever its tails are."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from batchproof.stats.intervals import Interval

Floats = npt.NDArray[np.float64]
EXACT = 100  # up to so many values the distribution is exact, and from there on it is normal


def middle(values: npt.ArrayLike, confidence: float) -> Interval:
    """Return the middle of values [n] that are independent and symmetric about it (Hodges and Lehmann).

    The estimate is the median of the means of all pairs, each value with itself included. The bounds are those of Wilcoxon's
    signed-rank test. Each holds with the confidence, exactly so up to 100 values, and where there are too few for that
    (7 values have bounds of 99 %) it is None.
    """
    data = np.asarray(values, np.float64)
    count = len(data)
    if not count:
        return Interval(None, None, None, confidence, 0, 0.0)
    first, second = np.triu_indices(count)
    means = (data[first] + data[second]) / 2
    place = _place(count, 1 - confidence)
    estimate = float(np.median(means))
    if place < 0:
        return Interval(estimate, None, None, confidence, count, float(count))
    ends = np.partition(means, (place, len(means) - 1 - place))
    return Interval(estimate, float(ends[place]), float(ends[-1 - place]), confidence, count, float(count))


def _place(count: int, doubt: float) -> int:
    """Return the largest sum of signed ranks such that it, or less, has at most this probability; -1 if there is none."""
    if count <= EXACT:
        return int(np.searchsorted(_at_most(count), doubt * (1 + 1e-9), side="right")) - 1
    spread = math.sqrt(count * (count + 1) * (2 * count + 1) / 24)
    return math.floor(count * (count + 1) / 4 - NormalDist().inv_cdf(1 - doubt) * spread - 0.5)


@lru_cache(maxsize=EXACT)
def _at_most(count: int) -> Floats:
    """Return the probability of each sum of the ranks 1 to count, or less, if each rank counts with probability 1/2."""
    chances = np.zeros(count * (count + 1) // 2 + 1)
    chances[0] = 1.0
    for rank in range(1, count + 1):
        with_it = np.zeros_like(chances)
        with_it[rank:] = chances[:-rank]
        chances = (chances + with_it) / 2
    return np.cumsum(chances)
