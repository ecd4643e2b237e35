"""Bounds of a middle: exact small cases by hand, and the rate at which they miss, with any tails."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchproof.stats import signed_rank
from batchproof.stats.signed_rank import middle


def test_the_estimate_is_the_median_of_the_means_of_pairs() -> None:
    """By hand: 1, 2, 6 have the means 1, 1.5, 2, 3.5, 4, 6."""
    assert middle([1.0, 2.0, 6.0], 0.8).estimate == pytest.approx(2.75)


def test_seven_values_have_bounds_and_six_do_not() -> None:
    """All seven on one side: 1 in 128 is less than 1 in 100. The bounds are then the least and the largest value."""
    values = [1.0, 2.0, 4.0, 7.0, 8.0, 9.0, 20.0]
    found = middle(values, 0.99)

    assert (found.low, found.high, found.n) == (1.0, 20.0, 7)
    assert (middle(values[:6], 0.99).low, middle(values[:6], 0.99).high) == (None, None)
    assert middle([], 0.99).estimate is None


def test_the_table_of_wilcoxon() -> None:
    """The critical sums of published tables: one-sided, 1 % and 0.5 %."""
    published = {(10, 0.01): 5, (20, 0.01): 43, (30, 0.01): 120, (50, 0.01): 397, (10, 0.005): 3, (50, 0.005): 373}

    assert {key: signed_rank._place(*key) for key in published} == published


def test_large_numbers_of_values_are_bounded_a_little_wider() -> None:
    """Where the distribution is taken as normal, its bounds are those of the exact one or just outside them."""
    for doubt in (0.01, 0.001):
        exact = int(np.searchsorted(signed_rank._at_most(signed_rank.EXACT + 1), doubt, side="right")) - 1

        assert 0 <= exact - signed_rank._place(signed_rank.EXACT + 1, doubt) < 0.01 * exact


@given(st.lists(st.floats(-1e3, 1e3, width=32), min_size=1, max_size=30), st.floats(-10, 10, width=32))
def test_a_shift_shifts_everything(values: list[float], by: float) -> None:
    """The bounds stand on either side of the estimate, and move with the values."""
    found, moved = middle(values, 0.95), middle([one + by for one in values], 0.95)

    assert moved.estimate == pytest.approx((found.estimate or 0.0) + by, abs=1e-6)
    if found.low is not None and found.high is not None and found.estimate is not None:
        assert found.low <= found.estimate <= found.high


@pytest.mark.parametrize("tails", [1.0, 2.0, 1e6])
def test_a_bound_is_wrong_as_rarely_as_it_says(tails: float) -> None:
    """5 % on either side, for Cauchy, for two degrees of freedom and for normal values."""
    rng = np.random.default_rng(1729)
    found = [middle(rng.standard_t(tails, 12), 0.95) for _ in range(4000)]

    for missed in (sum(one.low > 0 for one in found if one.low is not None),
                   sum(one.high < 0 for one in found if one.high is not None)):  # fmt: skip
        assert 0.03 < missed / len(found) < 0.06
