"""The ratio of a figure on two sides: its bounds hold, from one run a side and from several."""

import math

import numpy as np
import pytest

from batchproof.reports.compare.ratio import ratio, runs_needed, spread
from batchproof.reports.figures import Figure
from batchproof.stats.quantiles import student


def rate(value, low=None, high=None):
    """Return a rate."""
    return Figure("sweep.best_rows_per_s[work=w]", value, "rows/s", "higher", low, high, 8)


def test_the_bounds_of_one_run_a_side_add_up_as_independent_ones_do():
    """10 % up and down on either side give 14 %."""
    one = rate(100.0, 100 / 1.1, 110.0)

    found = ratio([one], [rate(200.0, 200 / 1.1, 220.0)], run_spread=0)

    assert found.estimate == pytest.approx(2.0)
    assert found.high == pytest.approx(2 * 1.1 ** math.sqrt(2))
    assert found.low == pytest.approx(2 * 1.1 ** -math.sqrt(2))
    assert ratio([one], [one], 0.9999).high > ratio([one], [one]).high


def test_a_missing_bound_stays_missing():
    """What has no lower bound in NEW, or no upper one in BASE, has no lower bound of the ratio."""
    found = ratio([rate(100.0, 90.0, 110.0)], [rate(100.0, None, 110.0)])

    assert found.low is None
    assert found.high is not None
    assert (ratio([rate(1.0)], [rate(2.0)]).low, ratio([rate(1.0)], [rate(2.0)]).estimate) == (None, 2.0)


@pytest.mark.parametrize("value", [0.0, -5.0])
def test_there_is_no_ratio_to_nothing(value):
    """A share of 0 or a negative growth has no logarithm; only 0 on both sides is the same."""
    found = ratio([rate(value)], [rate(100.0)])

    assert (found.estimate, found.low, found.n) == (None, None, 1)
    assert ratio([rate(0.0)], [rate(0.0)]).low == 1.0
    assert ratio([], [rate(1.0)]).n == 0
    assert ratio([rate(5.0, -1.0, 6.0)], [rate(5.0, 4.0, 6.0)]).high is None


@pytest.mark.parametrize(("base", "new"), [(2, 2), (5, 1), (5, 5), (1, 8)])
def test_the_spread_between_runs_is_what_counts_with_several(base, new):
    """Runs that differ by 3 % although each is sure of itself to 0.1 %: of 2000 comparisons of equals, 1 % are wrong."""
    chance = np.random.default_rng(base * 10 + new)
    wrong = 0
    for _ in range(2000):
        sides = [[rate(x, x / 1.001, x * 1.001) for x in np.exp(chance.normal(6, 0.03, count))] for count in (base, new)]
        wrong += ratio(*sides).high < 1

    assert 5 <= wrong <= 36  # 20 are expected; P[Bin(2000, 0.01) > 36] < 0.001


def test_one_run_a_side_does_not_know_how_runs_differ():
    """The same runs, one a side: nearly all are wrong without what they are assumed to vary by, and 1 % with it."""
    chance = np.random.default_rng(7)
    wrong = [0, 0]
    for _ in range(2000):
        base, new = (rate(x, x / 1.001, x * 1.001) for x in np.exp(chance.normal(6, 0.03, 2)))
        for place, run_spread in enumerate((0.0, 0.03)):
            wrong[place] += ratio([base], [new], run_spread=run_spread).high < 1

    assert wrong[0] > 800
    assert 5 <= wrong[1] <= 36


@pytest.mark.parametrize("counts", [(1, 1), (5, 1), (3, 3)])
def test_as_many_runs_as_are_needed_always_decide(counts):
    """With one less the interval is wider than the room that the margin leaves."""
    sides = [[rate(100 * factor, 100 * factor, 100 * factor) for factor in (1, 0.98, 1.02, 0.99, 1.01)[:n]] for n in counts]
    found = ratio(*sides)

    many = runs_needed(found, *counts, 0.05)

    varies = 0.02 if counts == (1, 1) else spread([[math.log(one.value) for one in side] for side in sides])
    halves = [student(0.99, 2 * n - 2) * varies * math.sqrt(2 / n) for n in (many - 1, many)]
    assert halves[0] > -math.log(0.95) / 2 >= halves[1]


def test_no_number_is_too_large():
    """A hostile file may say anything that is a number."""
    found = ratio([rate(1e-300, 1e-308, 1e308)], [rate(1e308, 1e-308, 1e308)])

    assert 0 < found.low < found.estimate <= found.high < math.inf
    assert ratio([rate(5.0, 6.0, 7.0)], [rate(5.0, 6.0, 7.0)]).low < 1


def test_runs_without_any_spread_are_exact():
    """As in simulated time."""
    found = ratio([rate(100.0)] * 3, [rate(50.0)] * 2)

    assert (found.low, found.estimate, found.high) == pytest.approx((0.5, 0.5, 0.5))
