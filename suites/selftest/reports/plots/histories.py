"""Series of a history by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from batchproof.reports.history.changes import Changed
from batchproof.reports.history.queries import Point, Series

if TYPE_CHECKING:
    from collections.abc import Sequence

DAY = 86_400


def series(
    figure: str = "sweep.best_rows_per_s[work=w]", *, unit: str = "rows/s", better: str = "higher", target: str = "t"
) -> Series:
    """Return a series of one host."""
    return Series(1, figure, unit, better, target, "bench quick", "0123456789ab")  # type: ignore[arg-type]


def points(values: Sequence[float | None]) -> list[Point]:
    """Return a point for each value, a day apart, within 1 %; None: it is INVALID."""
    return [
        Point(
            run,
            f"{run:040x}",
            False,
            "main",
            DAY * run,
            "1",
            value or 7.0,
            round((value or 7.0) * 0.99, 9),
            round((value or 7.0) * 1.01, 9),
            9,
            value is not None,
        )
        for run, value in enumerate(values, 1)
    ]


def changed(one: Series, found: Sequence[Point], at: int, before: float, after: float) -> Changed:
    """Return the change point before the point with this index."""
    runs = tuple(point.run for point in found)
    beside = found[at - 1], found[at]
    return Changed(one, *beside, runs[:at], runs[at:], before, after, 0.0001, len(found) - at, *beside)
