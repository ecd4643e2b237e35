"""An engine's iterations as a picture in SVG: requests as lanes, iterations as columns, what each iteration used below.

A pure function from the JSON data of `Generations` to one `<svg>` element, whose colours come from `iterations.css`. What
can be pointed at says what it is in words.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from markupsafe import Markup, escape

from batchproof.reports.html.page import visible
from batchproof.reports.iterations import cell, chosen, strips, window_of

WIDTH, LEFT, RIGHT, TOP, ROW, FOOT = 960, 96, 12, 26, 20, 22
STRIP, GAP = 30, 8
LANES, COLUMNS, WIDEST = 24, 120, 26
EVERY = (1, 2, 5, 10, 20, 50)
LABEL = 40  # units of the picture that the number of an iteration needs
SHAPES = {"p": "part", "P": "end-of-prompt", ".": "next", "$": "last", "~": "waits", "x": "taken", "!": "torn"}


def svg(data: Mapping[str, Any], title: str, *, mark: int | None = None, about: Collection[str] = ()) -> Markup:
    """Return the picture as one element.

    title: what it shows, for those who do not see it. mark: the iteration at which two pictures differ first; about: the
    requests that differ there.
    """
    window = window_of(data, COLUMNS, mark, about)
    lanes = chosen(data, LANES, about)
    wide = min(WIDEST, (WIDTH - LEFT - RIGHT) / max(1, len(window), (mark or 0) + 1 - window.start))
    bottom = TOP + ROW * len(lanes)
    below = list(strips(data, window)) if window else []
    parts = [
        *_columns(window, wide, bottom, mark),
        *(part for at, one in enumerate(lanes) for part in _lane(at, one, data, window, wide, one["name"] in about)),
        *(part for at, strip in enumerate(below) for part in _strip(at, strip, window, wide, bottom)),
    ]
    high = bottom + FOOT + (STRIP + GAP) * len(below)
    head = f'<svg class="lanes iterations" viewBox="0 0 {WIDTH} {high}" role="group" aria-label="{_safe(title)}">'
    return Markup(f"{head}{''.join(parts)}</svg>")  # noqa: S704 - words go through _safe, and all else is numbers


def _columns(window: range, wide: float, bottom: int, mark: int | None) -> Iterator[str]:
    """Number the iterations, and show which one is meant."""
    if mark is not None and mark >= window.start:
        x = _x(mark - window.start, wide)
        yield f'<rect class="marked-column" x="{x:g}" y="{TOP - 4}" width="{wide:g}" height="{bottom - TOP + 8}"/>'
        yield f'<path class="flag" d="M{x + wide / 2:g} {TOP - 5}l-5 -7h10z"/>'
    step = next((one for one in EVERY if one * wide >= LABEL), EVERY[-1])
    for place in window:
        if place % step == 0:
            middle = _x(place - window.start, wide) + wide / 2
            yield f'<text class="tick" x="{middle:g}" y="{bottom + 15}">{place}</text>'
    yield f'<text class="unit" x="4" y="{bottom + 15}">iteration</text>'


def _lane(
    at: int, one: Mapping[str, Any], data: Mapping[str, Any], window: range, wide: float, marked: bool
) -> Iterator[str]:
    """Draw one request: a cell for each iteration in which it waits or computes something."""
    y = TOP + ROW * at
    name = one["name"] if len(one["name"]) <= 12 else f"{one['name'][:11]}…"
    if marked:
        yield f'<rect class="marked-lane" x="0" y="{y}" width="{WIDTH}" height="{ROW}"/>'
        yield f'<path class="flag" d="M2 {y + 4}l8 6l-8 6z"/>'
    yield f'<text class="name" x="{LEFT - 10}" y="{y + 14}">{_safe(name)}</text>'
    for place in window:
        letter, row = cell(one, data, place)
        if letter in SHAPES:
            x = _x(place - window.start, wide)
            shape = _shape(letter, x, y, wide)
            stop = ' tabindex="0"' if at == 0 and place == window.start else ""
            says = _safe(f"{one['name']}, iteration {place}: {_says(letter, row)}")
            yield f'<g class="{SHAPES[letter]}" role="img"{stop}><title>{says}</title>{shape}</g>'


def _shape(letter: str, x: float, y: int, wide: float) -> str:
    """Draw a block for tokens of a prompt, a dot for a next token, a line for waiting: shapes as well as colours."""
    middle, across = y + ROW / 2, max(1.0, wide - 1)
    if letter in "pP!":
        bar = f'<path class="bar" d="M{x + across:g} {y + 3}v{ROW - 6}"/>' if letter == "P" else ""
        return f'<rect x="{x:g}" y="{y + 3}" width="{across:g}" height="{ROW - 6}"/>{bar}'
    if letter in ".$":
        size = min(across / 2, 4)
        cross = f'<path class="bar" d="M{x + across:g} {y + 3}v{ROW - 6}"/>' if letter == "$" else ""
        return f'<circle cx="{x + across / 2:g}" cy="{middle:g}" r="{size:g}"/>{cross}'
    if letter == "x":
        return f'<path d="M{x + wide / 2:g} {middle:g}m-4 -4l8 8m0 -8l-8 8"/>'
    return f'<path d="M{x:g} {middle:g}h{wide:g}"/>'


def _says(letter: str, row: Mapping[str, Any] | None) -> str:
    """Return what a cell is, in words."""
    if row is None:
        return "aborted" if letter == "x" else "waits"
    last = row["start"] + row["count"] - 1
    span = f"token {last}" if row["count"] == 1 else f"tokens {row['start']} to {last}"
    what = {"p": "a part of its prompt", "P": "the end of its prompt", ".": "a next token", "$": "its last token"}
    torn = f", and {row['torn']} entries of its context are out of place" if row["torn"] else ""
    blocks = f", in blocks {', '.join(map(str, row['blocks']))}" if row["blocks"] else ""
    return f"{span}, {what.get(letter, 'computed')}{torn}{blocks}"


def _strip(at: int, strip: tuple[str, list[float]], window: range, wide: float, bottom: int) -> Iterator[str]:
    """Draw how much of a limit each iteration uses, as bars below a line that is the limit."""
    name, shares = strip
    top = bottom + FOOT + (STRIP + GAP) * at
    yield f'<text class="name" x="{LEFT - 10}" y="{top + STRIP / 2 + 4:g}">{_safe(name)}</text>'
    yield f'<path class="grid" d="M{LEFT} {top}h{len(window) * wide:g}M{LEFT} {top + STRIP}h{len(window) * wide:g}"/>'
    for place, share in zip(window, shares, strict=True):
        high = min(share, 1.0) * STRIP
        over = " over" if share > 1 else ""
        says = _safe(f"iteration {place}: {share:.0%} of the {name}")
        x, y = _x(place - window.start, wide), top + STRIP - high
        bar = f'<rect x="{x:g}" y="{y:g}" width="{max(1.0, wide - 1):g}" height="{high:g}"/>'
        yield f'<g class="used{over}" role="img"><title>{says}</title>{bar}</g>' if share else ""


def _x(column: int, wide: float) -> float:
    return round(LEFT + column * wide, 1)


def _safe(text: str) -> str:
    """Return text from outside for an element or an attribute."""
    return str(escape(visible(text)))
