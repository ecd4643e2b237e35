"""Tests of how a long series is thinned out."""

from __future__ import annotations

from batchproof.reports.plots.tracks import track
from batchproof.suites.selftest.reports.plots.histories import points, series


def test_a_short_series_stays_as_it_is() -> None:
    """Each run has its place, with its interval."""
    found = track(series(), points([10, None, 12]), most=3)

    assert [(one.run, one.value, one.low, one.valid, one.runs) for one in found.places] == [
        (1, 10, 9.9, True, 1),
        (2, 7, 6.93, False, 1),
        (3, 12, 11.88, True, 1),
    ]
    assert not found.together


def test_of_many_runs_neighbours_stand_together() -> None:
    """By their median and their range, and what is INVALID takes no part unless there is nothing else."""
    found = track(series(), points([1, 5, 3, 2, None, 4, None, None, None, 9]), most=4)

    assert [(one.run, one.value, one.low, one.high, one.valid, one.runs) for one in found.places] == [
        (3, 3, 1, 5, True, 3),
        (6, 3, 2, 4, True, 3),
        (9, 7, 6.93, 7.07, False, 3),
        (10, 9, 8.91, 9.09, True, 1),
    ]
    assert found.together


def test_the_place_of_a_run_is_found_where_it_stands_with_others() -> None:
    """A change point may lie in the middle of several runs; a run that is not shown has no place."""
    found = track(series(), points(range(1, 11)), most=4)

    assert [found.place_of(run) for run in (1, 3, 4, 9, 10, 11)] == [0, 0, 1, 2, 3, None]
    assert track(series(), []).places == ()
