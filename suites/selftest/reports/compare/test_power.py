"""The error rates of `compare` on drawn runs: where they must be low, they are."""

import pytest

from batchproof.reports.compare.power import SIDES, answers


@pytest.mark.parametrize("sides", SIDES)
def test_equal_runs_are_rarely_slower(sides):
    """At most 1 %, where runs vary as one run a side is assumed to."""
    assert answers(sides, 0.02, 0.0, comparisons=1000)["SLOWER"] <= 22  # P[Bin(1000, 0.01) > 22] < 0.001


@pytest.mark.parametrize("sides", SIDES)
def test_a_change_of_the_whole_margin_is_rarely_the_same(sides):
    """It is SLOWER, or UNPROVEN."""
    assert answers(sides, 0.01, 0.05, comparisons=1000)["SAME"] <= 22


def test_more_runs_find_more():
    """And one run a side hardly finds anything that is as small as runs vary."""
    found = [answers(sides, 0.01, 0.05, comparisons=500)["SLOWER"] for sides in ((1, 1), (3, 1), (3, 3))]

    assert found == sorted(found)
    assert found[0] < 150
    assert found[2] > 450


def test_an_assumption_that_is_too_low_is_wrong_more_often():
    """That is why it is an option."""
    assert answers((1, 1), 0.03, 0.0, comparisons=1000, run_spread=0.005)["SLOWER"] > 200
