"""Quantiles of the distributions that intervals are made of. scipy computes them.

`scipy.special` is imported where it is needed: a command that judges nothing does not wait for it, and `scipy.stats`, which
has the same functions under better-known names, takes ten times as long to import.
"""

from __future__ import annotations

CONFIDENCE = 0.99
_ROUNDING = 1e-12  # so that rounding in the sums never misses a level that is met exactly


def student(level: float, degrees: float) -> float:
    """Return the quantile of Student's t at `level` in (0, 1), for at least one degree of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, level))


def binomial(count: int, share: float, level: float) -> int:
    """Return the least k with P[Bin(count, share) <= k] >= level; share and level in (0, 1)."""
    from scipy.special import bdtr, bdtrik

    level *= 1 - _ROUNDING
    k = max(0, min(count, int(bdtrik(level, count, share))))  # the inverse of a smooth curve: right to within one
    while k > 0 and bdtr(k - 1, count, share) >= level:
        k -= 1
    while k < count and bdtr(k, count, share) < level:
        k += 1
    return k


def share_bounds(hits: float, count: float, confidence: float) -> tuple[float, float]:
    """Return one-sided bounds on a share, `hits` of `count`, whole or not (Clopper and Pearson, Biometrika 26, 1934)."""
    from scipy.special import betaincinv

    low = float(betaincinv(hits, count - hits + 1, 1 - confidence)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1, count - hits, confidence)) if hits < count else 1.0
    return low, high


def bounding_ranks(count: int, share: float, confidence: float) -> tuple[int, int]:
    """Return the ranks, from 1, of the order statistics that bound a quantile from below and from above.

    Each bound holds with this confidence for any distribution of `count` independent values (David and Nagaraja, Order
    Statistics, section 7.1). 0, or count + 1: there are too few values for a bound on that side.
    """
    return binomial(count, share, 1 - confidence), binomial(count, share, confidence) + 1
