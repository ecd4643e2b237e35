"""What suffers when another part is busy: a critical model alongside one that a spike hits, and priority levels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from batchproof.reports.plots import samples
from batchproof.reports.plots.chart import Axis, Chart, Line, Panel, Point, Series, Span, around, short, unit_of
from batchproof.reports.plots.over_time import NOTE, TIME, edges, latency, moments, rate, waiting
from batchproof.stats import intervals
from batchproof.stats.arrays import NEVER
from batchproof.stats.autocorrelation import integrated_time

A, B = 0, 1  # which load a request of the kept samples belongs to
OTHERS = 1


def charts(measurement: Mapping[str, Any], folder: Path) -> Iterator[Chart]:
    """Yield the charts of the measurement `isolation`: of two models over time, and of priority levels."""
    if chart := _models(measurement["models"], folder):
        yield chart
    if "rows" in measurement["levels"]:
        yield _levels(measurement["levels"], folder)


def _models(models: Mapping[str, Any], folder: Path) -> Chart | None:
    name, title = "isolation-models", "A critical model while a spike hits another"
    if not models["valid"]:
        why = f"INVALID: {models['reasons'][0] if models['reasons'] else ''}"
        return Chart(name, title, f"{title}: {why}.", (Panel("Latency of A", TIME, Axis("latency"), void=why),), "isolation")
    try:
        both = samples.read(folder, models.get("samples"))
    except samples.SamplesError:
        return None
    borders = edges(both)
    a, b = (both.part(both.client == whose) for whose in (A, B))
    slo_ns, late = models["slo_ns"], a.latency_ns
    size, unit = unit_of(max(float(late[late != NEVER].max(initial=0)), slo_ns))
    when = moments(models["B"], {"during": "spike on B", "after": "over"})
    wall = Line(slo_ns / size, f"objective of A: {short(slo_ns / size)} {unit}", limit=True)
    panels = (
        Panel(
            "Latency of A, the critical model",
            TIME,
            Axis(f"median latency, {unit}", zero=True),
            (latency(a, borders, size, "A, by when it was due", "first"),),
            (*when, wall),
        ),
        Panel(
            "Requests a second",
            TIME,
            Axis("requests/s", zero=True),
            (
                rate(a.scheduled_ns, borders, "offered to A", "first"),
                rate(b.scheduled_ns, borders, "offered to B", "second"),
                rate(b.done_ns, borders, "served by B", "third"),
            ),
            when,
        ),
        Panel(
            "Requests inside",
            TIME,
            Axis("waiting or in the model", zero=True),
            (waiting(a, borders, "A", "first"), waiting(b, borders, "B", "second")),
            when,
        ),
    )
    return Chart(name, title, f"Isolation: {models['headline']}.", panels, "isolation", NOTE)


def _levels(levels: Mapping[str, Any], folder: Path) -> Chart:
    rows = levels["rows"]
    loads = [row["load"] for row in rows]
    lost = [row for row in rows if not row["valid"]]
    spans = tuple(Span(*around(loads, row["load"]), (row["reasons"] or ["INVALID"])[0]) for row in lost)
    valid = [row for row in rows if row["valid"]]
    fluid = tuple(Point(row["load"], 100 * row["fluid_share"], exact=True) for row in valid)
    size, unit = unit_of(max([row["urgent"]["p99_ns"] or 0 for row in valid], default=0))
    x = Axis("urgent load, times the capacity")
    panels = (
        Panel(
            f"Others, at {short(levels['other_load'])} of the capacity",
            x,
            Axis("served while the load lasts, %", zero=True),
            (
                Series("others", "second", tuple(_served(row, folder) for row in valid)),
                Series("what is left for them, as a fluid", "predicted", fluid),
            ),
            (),
            spans,
        ),
        Panel(
            "p99 of the urgent",
            x,
            Axis(f"latency, {unit}", zero=True),
            (Series("urgent", "first", _urgent(valid, folder, size)),),
            (),
            spans,
        ),
    )
    says = f"Priority levels: {levels['headline']}."
    return Chart("isolation-levels", "Two priority levels in one model", says, panels, "isolation")


def _part(row: Mapping[str, Any], folder: Path, whose: int) -> samples.Samples | None:
    try:
        both = samples.read(folder, row.get("samples"))
    except samples.SamplesError:
        return None
    return both.part(both.client == whose)


def _served(row: Mapping[str, Any], folder: Path) -> Point:
    value = 100 * (row["served_share"] or 0.0)
    others = _part(row, folder, OTHERS)
    if others is None or not others.outcome.size:
        return Point(row["load"], value)
    end_ns = round(row["others"]["requests"] / row["others"]["offered"] * 1e9)
    in_time = others.answered & (others.done_ns <= end_ns)
    found = intervals.share(int(in_time.sum()), in_time.size, integrated_time(in_time), samples.TWO_SIDED)
    low, high = (None if one is None else 100 * one for one in (found.low, found.high))
    return Point(row["load"], value, None if low is None else min(low, value), None if high is None else max(high, value))


def _urgent(rows: Sequence[Mapping[str, Any]], folder: Path, size: float) -> tuple[Point, ...]:
    points = []
    for row in rows:
        if not (value := row["urgent"]["p99_ns"]):
            continue
        urgent = _part(row, folder, 1 - OTHERS)
        _, low, high = samples.quantile(urgent.latency_ns, 99) if urgent is not None else (None, None, None)
        points.append(Point(row["load"], value / size, low and min(low, value) / size, high and max(high, value) / size))
    return tuple(points)
