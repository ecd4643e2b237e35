"""A series of a history as the paths of a small SVG.

A page shows dozens of them, and matplotlib takes 60 ms for each: these are four paths that a template puts into place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from batchproof.reports.plots.chart import short
from batchproof.reports.plots.tracks import Place, Track
from batchproof.stats.change import FASTER

WIDTH, HEIGHT = 360, 150
LEFT, RIGHT, TOP, BOTTOM = 50.0, 8.0, 20.0, 18.0  # of the frame
NARROWEST = 4.0  # of what is INVALID, so that its hatching can be seen
SPARE = 0.12  # of the range of values, above and below
FLAT = 0.01  # of the value: the least range, so that equal values do not look like noise


@dataclass(frozen=True)
class Mark:
    """A change point: where, and what happened, in a word and a number."""

    x: float
    label: str
    word: str
    end: bool


@dataclass(frozen=True)
class Drawn:
    """What a template draws. ticks: (height, label). lines: the valid points; dots: each of them; bars: their intervals.

    invalid: places without a result. xs: the middle of each place.
    """

    lines: str
    dots: str
    bars: str
    invalid: str
    ticks: tuple[tuple[float, str], ...]
    marks: tuple[Mark, ...]
    xs: tuple[float, ...]


def drawn(track: Track, scale: float = 1.0) -> Drawn:
    """Return the paths of a track; no line leads through what is INVALID.

    scale: by what its values are divided for the labels (ns to ms).
    """
    places = track.places
    count = max(1, len(places))
    wide = (WIDTH - LEFT - RIGHT) / count
    xs = tuple(round(LEFT + (at + 0.5) * wide, 1) for at in range(len(places)))
    low, high = _range([place for place in places if place.valid])

    def y(value: float) -> float:
        inside = min(max(value, low), high)
        return round(TOP + (high - inside) / (high - low) * (HEIGHT - TOP - BOTTOM), 1)

    known = [(x, place) for x, place in zip(xs, places, strict=True) if place.valid]
    bars = [
        f"M{x} {y(place.value if place.low is None else place.low)}V{y(place.value if place.high is None else place.high)}"
        for x, place in known
        if place.low is not None or place.high is not None
    ]
    stripe = max(wide, NARROWEST)
    lost = [
        f"M{round(x - stripe / 2, 1)} {TOP}h{round(stripe, 1)}V{HEIGHT - BOTTOM}h{round(-stripe, 1)}z"
        for x, place in zip(xs, places, strict=True)
        if not place.valid
    ]
    middles = (low + (high - low) * SPARE / (1 + 2 * SPARE), (low + high) / 2, high - (high - low) * SPARE / (1 + 2 * SPARE))
    return Drawn(
        "".join(
            f"{'L' if at and places[at - 1].valid else 'M'}{xs[at]} {y(place.value)}"
            for at, place in enumerate(places)
            if place.valid
        ),
        "".join(f"M{x} {y(place.value)}h0" for x, place in known),
        "".join(bars),
        "".join(lost),
        tuple((y(value), short(value / scale)) for value in middles) if known else (),
        tuple(_marks(track, xs, wide)),
        xs,
    )


def _range(places: Sequence[Place]) -> tuple[float, float]:
    """Return the lowest and highest value of the frame: of the values with some room; wider intervals are cut."""
    values = [place.value for place in places] or [0.0]
    least, most = min(values), max(values)
    room = max((most - least) * (1 + SPARE), abs(most) * FLAT, 1e-12)
    bounds = [value for place in places for value in (place.low, place.high) if value is not None]
    least = max(min([least, *bounds]), least - room)
    most = min(max([most, *bounds]), most + room)
    spare = max((most - least) * SPARE, abs(most) * FLAT, 1e-12)
    return least - spare, most + spare


def _marks(track: Track, xs: Sequence[float], wide: float) -> list[Mark]:
    found = []
    for change in track.changes:
        at = track.place_of(change.after.run)
        if at is None:
            continue
        share = "" if change.share is None else f" {change.share:+.1%}"
        sign = "▲" if change.word == FASTER else "▼"
        x = round(xs[at] - wide / 2, 1)
        found.append(Mark(x, f"{sign} {change.word}{share}", change.word, x > 0.6 * WIDTH))
    return found
