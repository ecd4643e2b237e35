"""Tests of charts as data."""

from __future__ import annotations

import math

import pytest

from batchproof.reports.plots.chart import Axis, Chart, Panel, Point, Series, Span, around, short, unit_of

AXIS = Axis("x")


@pytest.mark.parametrize("value", [math.nan, math.inf, -1e300])
def test_what_is_not_a_figure_is_refused(value: float) -> None:
    """A file from elsewhere may hold anything."""
    with pytest.raises(ValueError, match="not a figure"):
        Point(1.0, value)


@pytest.mark.parametrize("bounds", [(2.0, None), (None, 0.5), (2.0, 0.5)])
def test_a_figure_lies_inside_its_interval(bounds: tuple[float | None, float | None]) -> None:
    """Otherwise one of the two is wrong."""
    with pytest.raises(ValueError, match="outside its interval"):
        Point(0.0, 1.0, *bounds)


@pytest.mark.parametrize(("largest", "unit"), [(999.0, "µs"), (2e6, "ms"), (9.9e9, "ms"), (2e10, "s"), (0.0, "µs")])
def test_times_have_a_unit_that_keeps_them_short(largest: float, unit: str) -> None:
    """No axis counts in billions."""
    assert unit_of(largest)[1] == unit


def test_numbers_have_three_digits() -> None:
    """More of them would claim more than was measured."""
    assert [short(value) for value in (0.012345, 1.0, 12.345, 999.4, 12345.6)] == ["0.0123", "1", "12.3", "999", "12,346"]


def test_an_invalid_part_reaches_half_way_to_its_neighbours() -> None:
    """On a logarithmic axis too, and with a single place."""
    assert around([1, 2, 4], 2) == (1.5, 2.5)
    assert around([1, 4, 16], 4, log=True) == pytest.approx((2, 8))
    assert around([3], 3) == pytest.approx((2.7, 3.3))
    assert around([0], 0) == (-0.5, 0.5)


def test_axes_on_which_everything_is_invalid_show_no_scale() -> None:
    """A prediction alone is not a result either."""
    told = Series("oracle", "predicted", (Point(1, 1, exact=True),))
    measured = Series("measured", "first", (Point(2, 1, 0.5, 2),))
    span = Span(0, 1, "the host stalled")

    assert Panel("p", AXIS, AXIS, (told,), invalid=(span,)).nothing == "INVALID: the host stalled"
    assert Panel("p", AXIS, AXIS, (told, measured), invalid=(span,)).nothing == ""
    assert Panel("p", AXIS, AXIS).empty
    assert not Panel("p", AXIS, AXIS, invalid=(span,)).empty


def test_a_chart_says_where_bounds_are_missing() -> None:
    """A reader must not take a figure without an interval for one that is exact."""

    def notes(point: Point) -> str:
        return " ".join(
            Chart("c", "C", "says", (Panel("p", AXIS, AXIS, (Series("s", "first", (point,)),)),), "static").notes
        )

    assert notes(Point(1, 1, 0, 2)) == notes(Point(1, 1, exact=True)) == ""
    assert "too few requests" in notes(Point(1, 1, 0))
    assert "without an interval" in notes(Point(1, 1))
