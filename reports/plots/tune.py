"""What `tune` predicted for each configuration, what it chose, and how far the target met the objective."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from batchproof.reports.plots.chart import ROLES, Axis, Cell, Chart, Heat, Line, Panel, Point, Series, Span, around, short
from batchproof.reports.plots.sweep import MS, place, words

PERCENT = 100.0


def charts(measurement: Mapping[str, Any]) -> Iterator[Chart]:
    """Yield the two charts of the measurement `tune`."""
    goal, chosen = measurement["goal"], measurement["chosen"]
    yield _grid(measurement["points"], chosen and place(chosen["config"]), goal["budget_ns"], measurement["says"][0])
    if measurement["verified"]:
        yield _verified(measurement["verified"], goal)


def _grid(points: Sequence[Mapping[str, Any]], chosen: tuple[int, int] | None, budget_ns: int, says: str) -> Chart:
    sizes, delays = ([*dict.fromkeys(sorted(place(one["config"])[at] for one in points))] for at in (0, 1))
    cells = tuple(
        Cell(
            sizes.index(place(one["config"])[0]),
            delays.index(place(one["config"])[1]),
            Point(sizes.index(place(one["config"])[0]), one["rate"], exact=True),
            f"p99 {short(one['p99_ns'] / MS)} ms",
            place(one["config"]) == chosen,
        )
        for one in points
    )
    budget = f"{short(budget_ns / MS)} ms"
    heat = Heat(
        f"Simulated: the highest rate with p99 within {budget}",
        "max_batch_size",
        "queue delay, ms",
        tuple(map(str, sizes)),
        tuple(short(delay / MS) for delay in delays),
        cells,
        "requests/s",
        "framed: the choice" if chosen else "nothing was chosen",
    )
    best = max((cell for cell in cells if cell.point), key=lambda cell: cell.point.y if cell.point else 0, default=None)
    told = f" The highest simulated rate is {short(best.point.y)}/s." if best and best.point else ""
    return Chart(
        "tune-grid",
        f"Tune: what each configuration can serve within {budget}",
        f"{says}.{told}",
        (heat,),
        "tune",
        "Simulated from the measured service times; the verification on the target is the next chart.",
    )


def _verified(verified: Sequence[Mapping[str, Any]], goal: Mapping[str, Any]) -> Chart:
    rates = [one["rate"] for one in verified]
    spans = tuple(
        Span(*around(rates, one["rate"]), f"{words(one['config'])}: {(one['reasons'] or ['INVALID'])[0]}")
        for one in verified
        if one["verdict"] == "INVALID"
    )
    known = [one for one in verified if one["shown"] and one["verdict"] != "INVALID"]
    names = list(dict.fromkeys(words(one["config"]) for one in known))[: len(ROLES)]
    series = []
    for name, role in zip(names, ROLES, strict=False):
        mine = [_share(one) for one in known if words(one["config"]) == name]
        series.append(Series(name, role, tuple(sorted(mine, key=lambda point: point.x))))
    allowed = PERCENT - goal["percent"]
    budget = f"{short(goal['budget_ns'] / MS)} ms"
    panel = Panel(
        f"Measured: requests that take longer than {budget}",
        Axis("offered, requests/s"),
        Axis("% of all requests", zero=True),
        tuple(series),
        (Line(allowed, f"objective: at most {short(allowed)} %", limit=True),),
        spans,
    )
    told = [f"{words(one['config'])} at {short(one['rate'])}/s: {one['verdict']}" for one in verified]
    return Chart(
        "tune-verified",
        f"Tune: how the target keeps p{goal['percent']:g} within {budget}",
        f"Verified on the target: {'; '.join(told)}.",
        (panel,),
        "tune",
        "A configuration passes where the whole interval is below the objective.",
    )


def _share(one: Mapping[str, Any]) -> Point:
    shown = one["shown"]
    low, value, high = (None if shown[key] is None else shown[key] * PERCENT for key in ("low", "estimate", "high"))
    return Point(one["rate"], value or 0.0, low, high)
