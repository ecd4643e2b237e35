"""Intervals: their bounds hold the truth as often as they say, and agree with textbooks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from batchproof.stats import intervals


def test_a_mean_is_bounded_as_student_does() -> None:
    """The numbers are those of scipy's one-sample test."""
    from scipy import stats

    values = [3.1, 2.9, 3.4, 3.0, 2.6]
    found = intervals.mean(values, 0.99)
    both = stats.ttest_1samp(values, 0.0).confidence_interval(0.98)

    assert (found.low, found.high) == (pytest.approx(both.low), pytest.approx(both.high))
    assert (found.n, found.effective) == (5, 5.0)


def test_a_geometric_mean_is_the_mean_of_logarithms() -> None:
    """Its bounds are the exponentials of theirs; a ratio that is not positive has none."""
    found, logs = intervals.geometric_mean([1.0, 2.0, 4.0]), intervals.mean([0.0, math.log(2), math.log(4)])

    assert found.estimate == pytest.approx(2.0)
    assert (found.low, found.high) == (pytest.approx(math.exp(logs.low or 0)), pytest.approx(math.exp(logs.high or 0)))
    with pytest.raises(ValueError, match=r"math domain error|positive"):
        intervals.geometric_mean([1.0, 0.0])


def test_growth_is_the_least_squares_line() -> None:
    """The slope and standard error are those of scipy's regression, over the span."""
    from scipy import stats

    rng = np.random.default_rng(2)
    points = [(float(place), math.exp(0.1 * place + rng.normal(0, 0.05))) for place in range(8)]
    found = intervals.growth(points, 5.0, 0.99)
    line = stats.linregress([place for place, _ in points], np.log([value for _, value in points]))
    margin = stats.t.ppf(0.99, 6) * line.stderr

    assert found.estimate == pytest.approx(math.exp(5 * line.slope))
    assert (found.low, found.high) == (
        pytest.approx(math.exp(5 * (line.slope - margin))), pytest.approx(math.exp(5 * (line.slope + margin))))
    with pytest.raises(ValueError, match="three points"):
        intervals.growth(points[:2], 5.0)


@pytest.mark.parametrize("count", [7, 20, 40])
def test_each_bound_of_a_median_is_wrong_in_one_of_a_hundred(count: int) -> None:
    """This holds for noise that is anything but normal."""
    rng = np.random.default_rng(3)
    found = [intervals.median(rng.exponential(1.0, count).tolist()) for _ in range(3000)]

    low, high = ([getattr(one, side) for one in found] for side in ("low", "high"))

    for wrong in (sum(one > math.log(2) for one in low), sum(one < math.log(2) for one in high)):
        assert wrong / 3000 <= 0.0155  # 1 %, and three standard deviations


def test_a_share_counts_correlated_values_for_what_they_are_worth() -> None:
    """Ten times the memory means a tenth of the values: the share stays, and the bounds move apart."""
    free, tied = intervals.share(10, 1000), intervals.share(10, 1000, tau=10.0)

    assert free.estimate == tied.estimate == 0.01
    assert tied.low < free.low < 0.01 < free.high < tied.high
    assert tied.effective == 100.0
    with pytest.raises(ValueError, match="no values"):
        intervals.share(0, 0)
