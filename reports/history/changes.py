"""Where a series changed: its change points, with the runs before and after each, and which way it went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from batchproof.reports.history.queries import Point, Series
from batchproof.stats.change import FASTER, SLOWER, Change
from batchproof.stats.change_points import change_points


@dataclass(frozen=True)
class Changed:
    """One change point. before, after: the adjacent runs. runs_before, runs_after: all up to the adjacent change points.

    earliest, latest: the last run that was surely before it, and the first that was surely after it. They are further apart
    where runs vary as much as they change, and in a drift.
    mean_before, mean_after: their means, in the unit of the series. newest: how many runs the series has from `after` on.
    """

    series: Series
    before: Point
    after: Point
    runs_before: tuple[int, ...]
    runs_after: tuple[int, ...]
    mean_before: float
    mean_after: float
    p_value: float
    newest: int
    earliest: Point
    latest: Point

    @property
    def certain(self) -> bool:
        """Whether it can only be between the two adjacent runs."""
        return (self.earliest, self.latest) == (self.before, self.after)

    @property
    def share(self) -> float | None:
        """The size of the change as a share of what was before: -0.05 is 5 % less. None if that was 0."""
        return self.mean_after / self.mean_before - 1 if self.mean_before else None

    @property
    def word(self) -> Change:
        """FASTER if it became better, SLOWER if it became worse, whichever way the figure counts."""
        more = self.mean_after > self.mean_before
        return FASTER if more is (self.series.better == "higher") else SLOWER


def changes_of(series: Series, points: Sequence[Point], least_change: float) -> tuple[Changed, ...]:
    """Return the change points of these points, which are in order. INVALID ones are left out: they are no results.

    OtavaMissing if Apache Otava is not installed.
    """
    valid = [point for point in points if point.valid]
    runs = [point.run for point in valid]
    return tuple(
        Changed(
            series, valid[one.at - 1], valid[one.at], tuple(runs[one.first : one.at]), tuple(runs[one.at : one.end]),
            one.before, one.after, one.p_value, len(valid) - one.at, valid[one.earliest - 1], valid[one.latest],
        )
        for one in change_points([point.value for point in valid], least_change=least_change)
    )  # fmt: skip
