"""What a batch takes: the latency of each of its requests, and requests a second, against the batch size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from batchproof.reports.plots.chart import Axis, Chart, Line, Panel, Point, Series, Span, around, short, unit_of


def charts(measurement: Mapping[str, Any]) -> Iterator[Chart]:
    """Yield a chart for each work of the measurement `static`."""
    for name, work in measurement["works"].items():
        yield _chart(str(name), work)


def _chart(name: str, work: Mapping[str, Any]) -> Chart:
    timed, knee = work["points"], work["knee"]
    size, unit = unit_of(max((one["tau_ns"] for one in timed), default=0))
    rows = [one["rows"] for one in timed]
    spans = tuple(Span(*around(rows, one["rows"], log=True), "its time is uncertain") for one in timed if one.get("wide"))
    known = [one for one in timed if not one.get("wide")]
    latency = [_scaled(one["rows"], one["tau_ns"], one["tau_low_ns"], one["tau_high_ns"], 1 / size) for one in known]
    rate = [
        Point(
            one["rows"],
            one["rows_per_s"],
            one["rows"] * 1e9 / one["tau_high_ns"] if one["tau_high_ns"] else None,
            one["rows"] * 1e9 / one["tau_low_ns"] if one["tau_low_ns"] else None,
        )
        for one in known
    ]
    x = Axis("batch size, rows", log=True, ticks=tuple((at, str(at)) for at in rows))
    fit = work["fit"]
    line = [Point(at, (fit["base_ns"] + fit["row_ns"] * at) / size, exact=True) for at in rows]
    fitted = Series(
        f"fitted: {short(fit['base_ns'] / size)} {unit} + {short(fit['row_ns'] / size)} {unit} a row",
        "predicted",
        tuple(line),
        marks=False,
    )
    marks = (Line(knee["batch"], f"knee: {knee['batch']} rows", axis="x"),)
    panels = (
        Panel(
            "Average latency of each request",
            x,
            Axis(f"latency, {unit}", zero=True),
            (Series("measured (median)", "first", tuple(latency)), fitted),
            marks,
            spans,
        ),
        Panel(
            "Requests a second, batches back to back",
            x,
            Axis("requests/s", zero=True),
            (Series("measured", "second", tuple(rate)),),
            (*marks, Line(knee["limit"], "limit")),
            spans,
        ),
    )
    return Chart(f"static-{name}", f"{name}: what a batch takes", _says(name, known, work, size, unit), panels, "static")


def _scaled(x: float, ns: float, low: float | None, high: float | None, by: float) -> Point:
    return Point(x, ns * by, None if low is None else low * by, None if high is None else high * by)


def _says(name: str, known: list[Mapping[str, Any]], work: Mapping[str, Any], size: float, unit: str) -> str:
    if not known:
        return f"{name}: no batch size has a time that is known well enough."
    first, last = known[0], known[-1]
    grows = f"from {short(first['tau_ns'] / size)} {unit} at {first['rows']} to {short(last['tau_ns'] / size)} {unit}"
    left = len(work["points"]) - len(known)
    invalid = f" {left} of {len(work['points'])} sizes are INVALID." if left else ""
    return f"{name}: the latency of a batch goes {grows} at {last['rows']} rows; {work['knee']['reason']}.{invalid}"
