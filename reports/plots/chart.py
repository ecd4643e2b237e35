"""A chart as data: what is drawn, with the interval of each figure, and the sentence that says what can be seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

# The part that something plays: the drawing gives each a colour, a mark and a line of its own.
Role = Literal["first", "second", "third", "fourth", "predicted"]
ROLES: tuple[Role, ...] = ("first", "second", "third", "fourth")
LARGEST = 1e15  # no figure of a bench is larger; a file that holds such a number was not written by one


@dataclass(frozen=True)
class Point:
    """One figure. low, high: its interval with 99 % confidence; None: there is no bound on that side.

    exact: it has no interval, because it was counted, set or computed and not estimated. ValueError if it is not a number,
    or lies outside its own interval.
    """

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    exact: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn."""
        for value in (self.x, self.y, self.low, self.high):
            if value is not None and not (math.isfinite(value) and abs(value) <= LARGEST):
                raise ValueError(f"{value} is not a figure that can be drawn")
        if (self.low is not None and self.low > self.y) or (self.high is not None and self.high < self.y):
            raise ValueError(f"{self.y} lies outside its interval, {self.low} to {self.high}")

    @property
    def bounded(self) -> bool:
        """Whether its interval is known on at least one side, or it needs none."""
        return self.exact or self.low is not None or self.high is not None


@dataclass(frozen=True)
class Series:
    """Points that belong together. band: their intervals are drawn as one area. steps: each holds until the next one.

    marks: each point has a mark of its own. joined: a line leads from each to the next.
    """

    label: str
    role: Role
    points: tuple[Point, ...]
    band: bool = False
    steps: bool = False
    marks: bool = True
    joined: bool = True


@dataclass(frozen=True)
class Span:
    """A part of the x axis without a result, because it is INVALID: hatched, and nothing is drawn in it."""

    low: float
    high: float
    why: str


@dataclass(frozen=True)
class Line:
    """A line across the panel, at `at` on the axis "x" or "y": an objective, a knee, a limit."""

    at: float
    label: str
    axis: Literal["x", "y"] = "y"
    limit: bool = False


@dataclass(frozen=True)
class Axis:
    """log: logarithmic. ticks: (place, label) instead of those that the drawing chooses. zero: it begins at 0.

    whole: it counts something. reach: from where to where it goes; None: as far as there are points.
    """

    label: str
    log: bool = False
    ticks: tuple[tuple[float, str], ...] = ()
    zero: bool = False
    whole: bool = False
    reach: tuple[float, float] | None = None


@dataclass(frozen=True)
class Panel:
    """One pair of axes. void: why there is nothing in it, which is shown in its place, hatched."""

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...] = ()
    lines: tuple[Line, ...] = ()
    invalid: tuple[Span, ...] = ()
    void: str = ""

    @property
    def nothing(self) -> str:
        """Why it has no result at all, if that is because every part is INVALID: axes without a figure mean nothing."""
        measured = any(one.points for one in self.series if one.role != "predicted")
        return self.void or (f"INVALID: {self.invalid[0].why}" if self.invalid and not measured else "")

    @property
    def empty(self) -> bool:
        """Whether it shows neither a figure nor an INVALID part."""
        return not (self.void or self.invalid or any(one.points for one in self.series))


@dataclass(frozen=True)
class Cell:
    """A field of a heat map, at a column and a row. point: its figure; None: INVALID. beside: the second line of text."""

    column: int
    row: int
    point: Point | None
    beside: str = ""
    chosen: bool = False


@dataclass(frozen=True)
class Heat:
    """A heat map: a figure for each column and row. unit: of the figures."""

    title: str
    x: str
    y: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    cells: tuple[Cell, ...]
    unit: str
    note: str = ""

    @property
    def empty(self) -> bool:
        """Whether it has no field at all."""
        return not self.cells


@dataclass(frozen=True)
class Chart:
    """name: of its files. title: what it is about. says: what it shows, in words, for those who cannot see it.

    measurement: whose figures these are. note: what a reader has to know about them.
    """

    name: str
    title: str
    says: str
    panels: tuple[Panel | Heat, ...]
    measurement: str
    note: str = ""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return all(panel.empty for panel in self.panels)

    @property
    def points(self) -> tuple[Point, ...]:
        """Every figure that is drawn."""
        found: list[Point] = []
        for panel in self.panels:
            if isinstance(panel, Heat):
                found += [cell.point for cell in panel.cells if cell.point]
            else:
                found += [point for one in panel.series for point in one.points]
        return tuple(found)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader has to know about its figures, its own note first."""
        found = [self.note]
        if any(not point.exact and point.bounded and None in (point.low, point.high) for point in self.points):
            found.append("An arrow, or a band that ends at its line: too few requests for a bound on that side.")
        if any(not point.bounded for point in self.points):
            found.append("Figures without an interval: their raw samples are not in the folder, or too few for a bound.")
        return tuple(filter(None, found))


def unit_of(largest_ns: float) -> tuple[float, str]:
    """Return in which unit times up to this one are shown: how many ns it has, and its name."""
    for size, name in ((1e9, "s"), (1e6, "ms")):
        if largest_ns >= 10 * size or (name == "ms" and largest_ns >= size):
            return size, name
    return 1e3, "µs"


def short(value: float) -> str:
    """Return a number with three digits, as a chart shows it."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def around(places: Sequence[float], at: float, *, log: bool = False) -> tuple[float, float]:
    """Return the stretch of the x axis that belongs to one of some places: half-way to its neighbours."""
    value = math.log if log else float
    back = math.exp if log else float
    known = sorted({value(place) for place in places if not log or place > 0})
    here = value(at)
    gaps = [abs(one - here) for one in known if one != here]
    half = min(gaps) / 2 if gaps else (math.log(2) / 2 if log else abs(here) / 10 or 0.5)
    return back(here - half), back(here + half)
