"""Change points under test: the wrapper finds what Otava finds, and says what is wrong in words."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

from batchproof.stats.change_points import ChangePoint, OtavaMissing, change_points

pytest.importorskip("otava", reason="Apache Otava is not installed: pip install --no-deps apache-otava==0.8.0")


def test_a_step_is_found_with_what_lies_around_it() -> None:
    """Each change point has the values up to its neighbours, and their means."""
    noise = np.random.default_rng(7).normal(0, 1, 80)
    values = noise + np.repeat([100.0, 95.0, 100.0], [40, 20, 20])

    first, second = change_points(values.tolist())

    assert (first.first, first.at, first.end, second.first, second.at, second.end) == (0, 40, 60, 40, 60, 80)
    assert first.before == pytest.approx(values[:40].mean())
    assert first.after == second.before == pytest.approx(values[40:60].mean())
    assert first.p_value < 1e-9


@pytest.mark.parametrize("values", [[], [1.0] * 7, [5.0] * 100, [0.0] * 20, [1.0, 2.0] * 20, [1.0] * 3 + [2.0] * 4])
def test_what_does_not_change_or_is_too_short(values: list[float]) -> None:
    """There is no change point in it."""
    assert change_points(values) == ()


def test_exact_values_have_an_exact_change() -> None:
    """Simulated time has no noise at all: no variance is no reason to fail."""
    assert change_points([0.0] * 9 + [4.0] * 9) == (ChangePoint(9, 0, 18, 0.0, 4.0, 0.0, 9, 9),)
    assert change_points([4.0] * 19 + [2.0]) == (ChangePoint(19, 0, 20, 4.0, 2.0, 0.0, 19, 19),)


def test_small_changes_are_left_out() -> None:
    """As many as are asked for."""
    values = [100.0, 100.1] * 10 + [101.0, 101.1] * 10

    assert [one.at for one in change_points(values)] == [20]
    assert change_points(values, least_change=0.02) == ()


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_not_a_number_is_refused(bad: float) -> None:
    """A comparison with it would be false either way."""
    with pytest.raises(ValueError, match="not a finite number"):
        change_points([1.0] * 20 + [bad])


def test_without_otava_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """It cannot be an ordinary dependency, because of the version of numpy that it asks for."""
    monkeypatch.setitem(sys.modules, "otava.analysis", None)

    with pytest.raises(OtavaMissing, match="needs the module 'otava': pip install --no-deps apache-otava==0"):
        change_points([1.0] * 20 + [2.0] * 20)


@pytest.mark.parametrize(("step", "least", "widest"), [(0.03, 0.97, 6), (0.10, 0.97, 1)])
def test_the_place_is_as_sure_as_it_says(step: float, least: float, widest: int) -> None:
    """The true place is among those that are told, in 99 of 100 series; where the step is clear, there is one."""
    chance = np.random.default_rng(1)
    found = []
    for _ in range(100):
        values = 1 + 0.01 * chance.standard_normal(45)
        values[30:] *= 1 - step
        found += [one for one in change_points(values.tolist(), least_change=0.02) if abs(one.at - 30) <= 8]

    assert len(found) > 90
    assert np.mean([one.earliest <= 30 <= one.latest for one in found]) >= least
    assert np.median([one.latest - one.earliest + 1 for one in found]) <= widest


def test_a_drift_blames_no_single_place() -> None:
    """It is taken for steps, but each of them may be in many places."""
    values = 1 - 0.0025 * np.arange(45) + 0.01 * np.random.default_rng(3).standard_normal(45)

    found = change_points(values.tolist(), least_change=0.02)

    assert found
    assert all(one.latest > one.earliest for one in found)
