"""Change points of a series of measurements, found by Apache Otava (E-divisive with Student's t, the method of Hunter).

The method is Fleming et al., "Hunter: Using Change Point Detection to Hunt for Performance Regressions", ICPE 2023,
https://doi.org/10.1145/3578244.3583719. `batchproof lab change-points` measures how often it is wrong.

Otava pins numpy==2.2 although the module used here needs nothing so new, so it cannot be an ordinary dependency.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from batchproof.stats.quantiles import CONFIDENCE

HOW = "pip install --no-deps apache-otava==0.8.0"
MAX_P = 0.001  # Otava's own
WINDOW = 50  # values that are looked at together; Otava's own
LEAST = 8  # values: with fewer, a t-test on parts says little


class OtavaMissing(Exception):
    """Apache Otava is not installed; the message says how to get it."""

    def __init__(self) -> None:
        super().__init__(f"finding change points needs the module 'otava': {HOW}")


@dataclass(frozen=True)
class ChangePoint:
    """A place where a series changes. at: the first value after it, counted from 0.

    first, end: the values before it are series[first:at], those after it series[at:end], up to the adjacent change points.
    before, after: their means. p_value: of a t-test between them; chosen among many, so not a probability of error.
    earliest, latest: where it may be as well, with 99 % confidence, if there is one change and not a drift.
    """

    at: int
    first: int
    end: int
    before: float
    after: float
    p_value: float
    earliest: int
    latest: int


def change_points(values: Sequence[float], *, max_p: float = MAX_P, least_change: float = 0.0) -> tuple[ChangePoint, ...]:
    """Return the change points of a series, in order. OtavaMissing if Otava is not installed.

    least_change: a share, such as 0.02; what changes by less is no change point. ValueError if a value is not a number.
    """
    if not all(map(math.isfinite, values)):
        raise ValueError("a series with a value that is not a finite number")
    if len(values) < LEAST or min(values) == max(values):
        return ()
    try:
        from otava.analysis import compute_change_points
    except ImportError:
        raise OtavaMissing from None

    with warnings.catch_warnings(), np.errstate(all="ignore"):  # parts without any variance
        warnings.simplefilter("ignore")
        found, _ = compute_change_points(list(map(float, values)), WINDOW, max_p, least_change)
    edges = [0, *(int(one.index) for one in found), len(values)]
    parts = list(pairwise(edges))
    means = [float(np.mean(values[first:end])) for first, end in parts]
    return tuple(
        ChangePoint(
            parts[at][1], parts[at][0], parts[at + 1][1], means[at], means[at + 1], float(one.stats.pvalue),
            *_places(np.asarray(values, dtype=float), parts[at][0], parts[at][1], parts[at + 1][1]),
        )
        for at, one in enumerate(found)
    )  # fmt: skip


def _places(values: NDArray[np.float64], first: int, at: int, end: int) -> tuple[int, int]:
    """Return the first and the last place where the change in values[first:end] may be, if it is not at `at`.

    All places that explain the values nearly as well as the best one: the likelihood ratio for the place of a single change
    in the mean, Siegmund, "Confidence sets in change-point problems", International Statistical Review 56, 1988.
    """
    part = values[first:end]
    places = range(1, len(part))
    unexplained = np.array([part[:k].var() * k + part[k:].var() * (len(part) - k) for k in places])
    freedom = len(part) - 3
    if freedom < 1 or not unexplained.min() > 0:
        return at, at
    ratios = (unexplained - unexplained.min()) / (unexplained.min() / freedom)
    may = [first + k for k, ratio in zip(places, ratios, strict=True) if ratio <= -2 * math.log(1 - math.sqrt(CONFIDENCE))]
    return min(at, *may), max(at, *may)
