"""Tests of the small charts of a history: where each run stands, and what is hatched."""

from __future__ import annotations

import re

import pytest

from batchproof.reports.plots.line_chart import HEIGHT, LEFT, RIGHT, TOP, WIDTH, drawn
from batchproof.reports.plots.tracks import track
from batchproof.suites.selftest.reports.plots.histories import changed, points, series


def heights(path: str) -> list[float]:
    """Return the heights of the dots."""
    return [float(found) for found in re.findall(r"M[\d.]+ ([\d.]+)h0", path)]


def test_every_valid_run_has_a_dot_and_a_bar_and_no_other_has() -> None:
    """What is INVALID is hatched instead, over its own place."""
    found = drawn(track(series(), points([10, None, 12, 11])))

    assert len(heights(found.dots)) == found.bars.count("V") == 3
    assert found.invalid.count("z") == 1
    (start, width) = re.findall(r"M([\d.]+) 20.0h([\d.]+)", found.invalid)[0]
    assert float(start) < found.xs[1] < float(start) + float(width)
    assert found.lines.count("M") == 2


def test_more_is_higher_up() -> None:
    """And everything is inside of the frame."""
    found = heights(drawn(track(series(), points([10, 20, 15]))).dots)

    assert found[1] < found[2] < found[0]
    assert all(TOP <= height <= HEIGHT for height in found)


def test_equal_values_do_not_look_like_noise() -> None:
    """A thousandth of a percent is not stretched over the whole frame."""
    found = heights(drawn(track(series(), points([100, 100.001, 100]))).dots)

    assert max(found) - min(found) < 1


def test_one_wide_interval_does_not_flatten_the_others() -> None:
    """It is cut at the frame."""
    many = points([100, 101, 99, 100])
    wild = [*many, type(many[0])(*[5, "", False, "", 0, "", 100, 0, 10_000, 1, True])]
    found = heights(drawn(track(series(), wild)).dots)

    assert max(found[:4]) - min(found[:4]) > 20


@pytest.mark.parametrize("values", [[], [5], [0, 0], [None], [-3, 3], [1e-12, 2e-12], [1e14, 2e14]])
def test_nothing_is_too_little_to_draw(values: list[float | None]) -> None:
    """No number of runs, and no value, is a division by zero."""
    found = drawn(track(series(), points(values)))

    assert len(found.xs) == len(values)
    assert all(LEFT <= x <= WIDTH - RIGHT for x in found.xs)
    assert len(found.ticks) == (3 if any(value is not None for value in values) else 0)


def test_a_change_stands_before_its_first_run_with_its_direction() -> None:
    """By a sign, a word and a number; lower is better where the figure says so."""
    many, late = points([10] * 5 + [12] * 5), series("open.p99_ns", unit="ns", better="lower")
    (higher,) = drawn(track(series(), many, [changed(series(), many, 5, 10, 12)])).marks
    (lower,) = drawn(track(late, many, [changed(late, many, 5, 10, 12)])).marks
    found = drawn(track(series(), many))

    assert (higher.label, lower.label) == ("▲ FASTER +20.0%", "▼ SLOWER +20.0%")
    assert found.xs[4] < higher.x < found.xs[5]
    assert found.marks == ()


def test_a_change_in_what_is_not_shown_is_not_drawn() -> None:
    """Its run may be of another branch."""
    many = points([10] * 5)
    elsewhere = changed(series(), points([10] * 9), 8, 10, 12)

    assert drawn(track(series(), many, [elsewhere])).marks == ()
