"""Changes of a series under test."""

from __future__ import annotations

from dataclasses import replace

import pytest

from batchproof.reports.history.changes import changes_of
from batchproof.reports.history.queries import Point, Series
from batchproof.stats.change import FASTER, SLOWER

pytest.importorskip("otava", reason="Apache Otava is not installed: pip install --no-deps apache-otava==0.8.0")
SERIES = Series(1, "sweep.best_rows_per_s", "rows/s", "higher", "reference", "bench quick", "abc")


def points(*values: float) -> list[Point]:
    """Return valid points, a commit each."""
    return [Point(run, f"{run:040x}", False, "main", 1000 + run, "1", value, None, None, 1, True)
            for run, value in enumerate(values)]


def test_a_change_has_the_runs_before_and_after() -> None:
    """The two alongside it, all up to the next change, and how new it is."""
    (one,) = changes_of(SERIES, points(*[100.0] * 12, *[90.0] * 8), 0.0)

    assert (one.before.run, one.after.run, one.newest) == (11, 12, 8)
    assert (one.runs_before, one.runs_after) == (tuple(range(12)), tuple(range(12, 20)))
    assert (one.mean_before, one.mean_after) == (100, 90)
    assert one.share == pytest.approx(-0.1)


@pytest.mark.parametrize(("better", "after", "word"), [
    ("higher", 90.0, SLOWER), ("higher", 110.0, FASTER), ("lower", 90.0, FASTER), ("lower", 110.0, SLOWER)])
def test_the_word_is_about_better_and_worse(better: str, after: float, word: str) -> None:
    """Whichever way the figure counts."""
    (one,) = changes_of(replace(SERIES, better=better), points(*[100.0] * 10, *[after] * 10), 0.0)  # type: ignore[arg-type]

    assert one.word == word


def test_invalid_runs_are_left_out() -> None:
    """They are no results: a change between two valid runs has them between it."""
    ten = points(*[100.0] * 10, *[1.0] * 5, *[90.0] * 10)
    ten[10:15] = [replace(point, valid=False) for point in ten[10:15]]

    (one,) = changes_of(SERIES, ten, 0.0)

    assert (one.before.run, one.after.run) == (9, 15)


def test_a_change_from_nothing_has_no_share() -> None:
    """It is still a change."""
    (one,) = changes_of(SERIES, points(*[0.0] * 10, *[5.0] * 10), 0.02)

    assert (one.share, one.word) == (None, FASTER)
