"""How much a figure has changed: the ratio new / base with its interval, from one run a side or from several.

With several runs on a side, the interval is made of the spread between runs. With one run a side, nobody knows that spread,
so one is assumed and added to the two intervals that the runs gave themselves: these alone would call two equal runs
different as soon as the host changes between them.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from batchproof.reports.figures import Figure
from batchproof.stats.intervals import Interval
from batchproof.stats.quantiles import CONFIDENCE, student

LARGEST = 700.0  # of a logarithm: beyond it there is no floating-point number
NORMAL = 1e9  # degrees of freedom at which Student's t is the normal distribution
RUN_SPREAD = 0.02  # assumed of equal runs where one a side shows nothing of it: the standard deviation, as a share
MOST_RUNS = 30  # a side: whoever would need more should measure side by side


def ratio(
    base: Sequence[Figure], new: Sequence[Figure], confidence: float = CONFIDENCE, run_spread: float = RUN_SPREAD
) -> Interval:
    """Return the ratio of the (geometric) means; n is 0 if a side has no figure, and the estimate None if one is 0 or less.

    confidence: of each bound. The bounds of figures themselves have 99 %, and are stretched as those of a normal variable.
    run_spread: the standard deviation of equal runs, for one run a side; several show their own.
    """
    count = min(len(base), len(new))
    if not count:
        return Interval(None, None, None, confidence, 0, 0.0)
    values = [[one.value for one in side] for side in (base, new)]
    if not any(value for side in values for value in side):
        return Interval(1.0, 1.0, 1.0, confidence, count, float(count))  # 0 everywhere, as a count may be
    if min(min(side) for side in values) <= 0:
        return Interval(None, None, None, confidence, count, float(count))
    logs = [[math.log(value) for value in side] for side in values]
    middle = statistics.fmean(logs[1]) - statistics.fmean(logs[0])
    alone = max(map(len, values)) == 1
    down, up = _of_one(base[0], new[0], confidence, run_spread) if alone else _of_many(logs, confidence)
    low = None if down is None else _exp(middle - down)
    high = None if up is None else _exp(middle + up)
    return Interval(_exp(middle), low, high, confidence, count, float(count))


def _exp(log: float) -> float:
    """Return the number of this logarithm, as far as there are numbers: no file can say anything that ends in an error."""
    return math.exp(max(-LARGEST, min(LARGEST, log)))


def _of_one(base: Figure, new: Figure, confidence: float, run_spread: float) -> tuple[float | None, float | None]:
    """Half-widths of the logarithm, down and up: those of the two figures and of the spread, which are independent."""
    stretch = student(confidence, NORMAL) / student(CONFIDENCE, NORMAL)
    between = student(confidence, NORMAL) * run_spread * math.sqrt(2)
    base_down, base_up = _halves(base)
    new_down, new_up = _halves(new)
    down = None if new_down is None or base_up is None else math.hypot(stretch * new_down, stretch * base_up, between)
    up = None if new_up is None or base_down is None else math.hypot(stretch * new_up, stretch * base_down, between)
    return down, up


def _halves(one: Figure) -> tuple[float | None, float | None]:
    down = math.log(one.value / one.low) if one.low and one.low > 0 else None
    return down, math.log(one.high / one.value) if one.high else None


def _of_many(logs: Sequence[Sequence[float]], confidence: float) -> tuple[float, float]:
    """Half-widths by Student's t: runs are independent, log-normal, and as widely spread on both sides.

    A side with one run borrows the spread of the other.
    """
    half = student(confidence, _degrees(*map(len, logs))) * spread(logs) * _shared(*map(len, logs))
    return half, half


def spread(logs: Sequence[Sequence[float]]) -> float:
    """Return the standard deviation within groups of logarithms, of which one has at least two."""
    squares = sum(statistics.variance(side) * (len(side) - 1) for side in logs if len(side) > 1)
    return math.sqrt(squares / _degrees(*map(len, logs)))


def runs_needed(found: Interval, base: int, new: int, margin: float) -> int | None:
    """Return how many runs a side would decide, if they vary as the runs of this interval do; None: more than `MOST_RUNS`.

    That many make the interval so narrow that it fits into the margin or leaves out 1, wherever it lies.
    """
    if found.low is None or found.high is None or margin <= 0:
        return None
    degrees = _degrees(base, new) or NORMAL
    varies = math.log(found.high / found.low) / 2 / student(found.confidence, degrees) / _shared(base, new)
    room = -math.log(1 - margin) / 2
    enough = (n for n in range(2, MOST_RUNS + 1) if student(found.confidence, 2 * n - 2) * varies * _shared(n, n) <= room)
    return next(enough, None)


def _degrees(*runs: int) -> int:
    return sum(count - 1 for count in runs)


def _shared(base: int, new: int) -> float:
    """Return by how much the difference of two means varies, if one run varies by 1."""
    return math.sqrt(1 / base + 1 / new)
