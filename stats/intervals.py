"""Estimates with an interval: from data to how far a figure can be trusted. Every bound is one-sided.

The bound on either side is wrong with a probability of 1 - confidence. A gate needs only one of them, and so is wrong as
rarely. Both together hold with 1 - 2 (1 - confidence).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from batchproof.stats.quantiles import CONFIDENCE, bounding_ranks, share_bounds, student


@dataclass(frozen=True)
class Interval:
    """A figure and its bounds. None: the figure does not exist, or there is too little data for a bound.

    n: the values that it comes from. effective: how many independent values they are worth.
    """

    estimate: float | None
    low: float | None
    high: float | None
    confidence: float
    n: int
    effective: float

    def __str__(self) -> str:
        """As people read it."""
        low, middle, high = ("?" if one is None else f"{one:.2f}" for one in (self.low, self.estimate, self.high))
        return f"{middle} (interval {low} to {high})"


def exact(value: float) -> Interval:
    """Return a figure that is taken as it is: a count, or one whose noise the range asked for has room for."""
    return Interval(value, value, value, 1.0, 1, 1.0)


def nothing(confidence: float = CONFIDENCE) -> Interval:
    """Return the interval of a figure without data: neither estimate nor bounds."""
    return Interval(None, None, None, confidence, 0, 0.0)


def mean(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Return the mean of independent, normal values (Student t); fewer than two have no bounds, none have no mean."""
    count = len(values)
    if count < 2:
        return Interval(values[0] if count else None, None, None, confidence, count, float(count))
    middle = statistics.fmean(values)
    margin = student(confidence, count - 1) * statistics.stdev(values) / math.sqrt(count)
    return Interval(middle, middle - margin, middle + margin, confidence, count, float(count))


def geometric_mean(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Return the geometric mean of independent positive values, log-normal (Student t of their logarithms)."""
    return _exponential(mean([math.log(value) for value in values], confidence))


def median(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Return the median of independent values of any distribution (order statistics); 7 values have bounds of 99 %."""
    count, ordered = len(values), sorted(values)
    if not count:
        return nothing(confidence)
    low, high = bounding_ranks(count, 0.5, confidence)
    bounds = ordered[low - 1] if low else None, ordered[high - 1] if high <= count else None
    return Interval(statistics.median(ordered), *bounds, confidence, count, float(count))


def ratio_of_medians(above: Sequence[float], below: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Return the median of `above` over that of `below`: two independent samples of positive values, not paired.

    Each median is bounded with half the doubt, so that both bounds together hold with the confidence. 8 values on either
    side have bounds of 99 %.
    """
    half = (1 + confidence) / 2
    a, b = median(above, half), median(below, half)
    estimate = a.estimate / b.estimate if a.estimate is not None and b.estimate else None
    low = a.low / b.high if a.low is not None and b.high else None
    high = a.high / b.low if a.high is not None and b.low else None
    return Interval(estimate, low, high, confidence, min(a.n, b.n), min(a.effective, b.effective))


def growth(points: Sequence[tuple[float, float]], span: float, confidence: float = CONFIDENCE) -> Interval:
    """Return by what factor positive values grow over `span`: the straight line through (place, logarithm), least squares.

    The places differ. ValueError with fewer than three points.
    """
    if (count := len(points)) < 3:
        raise ValueError(f"a trend needs three points, not {count}")
    places, values = zip(*points, strict=True)
    (slope, _), covariance = np.polyfit(places, np.log(values), 1, cov=True)
    margin = student(confidence, count - 2) * math.sqrt(max(0.0, covariance[0, 0]))
    low, middle, high = (float(span * (slope + side * margin)) for side in (-1, 0, 1))
    return _exponential(Interval(middle, low, high, confidence, count, float(count)))


def share(hits: int, count: int, tau: float = 1.0, confidence: float = CONFIDENCE) -> Interval:
    """Return a share, `hits` of `count` (Clopper and Pearson on the effective number, count / tau).

    tau: how many values are worth one independent value (`autocorrelation.integrated_time`). ValueError without any value.
    """
    if not count:
        raise ValueError("no values, no share")
    low, high = share_bounds(hits / tau, count / tau, confidence)
    return Interval(hits / count, low, high, confidence, count, count / tau)


def _exponential(logs: Interval) -> Interval:
    """Return the interval of values whose logarithms have this one."""
    low, middle, high = (None if one is None else math.exp(one) for one in (logs.low, logs.estimate, logs.high))
    return Interval(middle, low, high, logs.confidence, logs.n, logs.effective)
