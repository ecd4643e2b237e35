"""How much a figure has changed: the ratio new / base with its interval, from one run a side or from several.

With one run a side, the interval comes from the two intervals that the runs gave themselves. It does not know how a figure
varies from run to run. With several runs on a side, that is what the interval is made of.
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


def ratio(base: Sequence[Figure], new: Sequence[Figure], confidence: float = CONFIDENCE) -> Interval:
    """Return the ratio of the (geometric) means; n is 0 if a side has no figure, and the estimate None if one is 0 or less.

    confidence: of each bound. The bounds of figures themselves have 99 %, and are stretched as those of a normal variable.
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
    down, up = _of_one(base[0], new[0], confidence) if max(map(len, values)) == 1 else _of_many(logs, confidence)
    low = None if down is None else _exp(middle - down)
    high = None if up is None else _exp(middle + up)
    return Interval(_exp(middle), low, high, confidence, count, float(count))


def _exp(log: float) -> float:
    """Return the number of this logarithm, as far as there are numbers: no file can say anything that ends in an error."""
    return math.exp(max(-LARGEST, min(LARGEST, log)))


def _of_one(base: Figure, new: Figure, confidence: float) -> tuple[float | None, float | None]:
    """Half-widths of the logarithm, down and up: those of the two figures, as sides of a right angle."""
    stretch = student(confidence, NORMAL) / student(CONFIDENCE, NORMAL)
    base_down, base_up = _halves(base)
    new_down, new_up = _halves(new)
    down = None if new_down is None or base_up is None else stretch * math.hypot(new_down, base_up)
    up = None if new_up is None or base_down is None else stretch * math.hypot(new_up, base_down)
    return down, up


def _halves(one: Figure) -> tuple[float | None, float | None]:
    down = math.log(one.value / one.low) if one.low and one.low > 0 else None
    return down, math.log(one.high / one.value) if one.high else None


def _of_many(logs: Sequence[Sequence[float]], confidence: float) -> tuple[float, float]:
    """Half-widths by Student's t: runs are independent, log-normal, and as widely spread on both sides.

    A side with one run borrows the spread of the other.
    """
    degrees = sum(len(side) - 1 for side in logs)
    squares = sum(statistics.variance(side) * (len(side) - 1) for side in logs if len(side) > 1)
    spread = math.sqrt(squares / degrees * sum(1 / len(side) for side in logs))
    half = student(confidence, degrees) * spread
    return half, half
