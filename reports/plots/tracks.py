"""The series of a history, as a page shows them: thinned out where there are more runs than a reader can tell apart."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from batchproof.reports.history.changes import Changed
    from batchproof.reports.history.queries import Point, Series

MOST = 400  # places along a series: about as many as a chart has pixels


@dataclass(frozen=True)
class Place:
    """One place along a series: a run, or several neighbours together.

    run, commit, when: of the last one. value: its own, or their median; low, high: its interval, or the least and the
    greatest value of several. valid: whether there is a result at all; runs that are none count only in `members`, which has
    the numbers of all.
    """

    run: int
    commit: str
    when: int
    value: float
    low: float | None
    high: float | None
    valid: bool
    members: tuple[int, ...]

    @property
    def runs(self) -> int:
        """How many runs stand here."""
        return len(self.members)


@dataclass(frozen=True)
class Track:
    """One series with what is shown of it. changes: its change points, or none if they were not looked for."""

    series: Series
    places: tuple[Place, ...]
    changes: tuple[Changed, ...] = ()

    @property
    def together(self) -> bool:
        """Whether a place may stand for several runs."""
        return any(place.runs > 1 for place in self.places)

    def place_of(self, run: int) -> int | None:
        """Return the index of the place in which this run stands; None if it is not shown."""
        return next((at for at, place in enumerate(self.places) if run in place.members), None)


def track(series: Series, points: Sequence[Point], changes: Sequence[Changed] = (), most: int = MOST) -> Track:
    """Return a series with its points, which are in order, thinned out to at most so many places."""
    step = -(-len(points) // most) if points else 1
    places = tuple(_place(points[start : start + step]) for start in range(0, len(points), step))
    return Track(series, places, tuple(changes))


def _place(points: Sequence[Point]) -> Place:
    last, members = points[-1], tuple(point.run for point in points)
    results = [point for point in points if point.valid]
    if len(points) == 1 or not results:
        return Place(last.run, last.commit, last.when, last.value, last.low, last.high, last.valid, members)
    values = [point.value for point in results]
    median = statistics.median(values)
    return Place(last.run, last.commit, last.when, median, min(values), max(values), valid=True, members=members)
