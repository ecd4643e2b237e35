"""Throughput and latency against load, with the objective as a wall; the configuration is the one that the sweep chose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from batchproof.reports.plots.chart import Axis, Chart, Line, Panel, Point, Role, Series, Span, around, short, unit_of
from batchproof.reports.plots.sweep import place, saturated, words

SHOWN: tuple[tuple[str, Role], ...] = (("p50", "first"), ("p99", "second"))


def charts(measurement: Mapping[str, Any], folder: Path, slo_ns: int) -> Iterator[Chart]:
    """Yield a chart for each work of the measurement `sweep`. slo_ns: the objective for the p99; 0: none was given."""
    for name, work in measurement["works"].items():
        best = place(work["best"])
        closed = [row for row in work["closed"] if place(row["config"]) == best]
        if opened := [row for row in work["open"] if place(row["config"]) == best]:
            yield _chart(str(name), opened, closed, folder, slo_ns)


def _chart(
    name: str, opened: Sequence[Mapping[str, Any]], closed: Sequence[Mapping[str, Any]], folder: Path, slo_ns: int
) -> Chart:
    rates = [row["rate"] for row in opened]
    valid = [row for row in opened if row["valid"]]
    spans = tuple(Span(*around(rates, row["rate"]), _why(row)) for row in opened if not row["valid"])
    told = [row["oracle"]["predicted"] for row in opened]
    known_ns = [row["latency"][which]["ns"] or 0 for row in valid for which, _ in SHOWN]
    size, unit = unit_of(max([*known_ns, *(one["p99_ns"] or 0 for one in told), slo_ns], default=0))
    latency = [
        Series(which, role, tuple(_latency(row, which, size) for row in valid if row["latency"][which]["ns"]))
        for which, role in SHOWN
    ]
    oracle = Series(
        "oracle, p50 and p99",
        "predicted",
        tuple(
            Point(rate, one[key] / size, exact=True)
            for key in ("p50_ns", "p99_ns")
            for rate, one in zip(rates, told, strict=True)
            if one[key]
        ),
    )
    answered = [point for row in valid if (point := saturated(row, folder, row["rate"]))]
    even = tuple(Point(at, at, exact=True) for at in (0, *rates))
    offered = Series("as much as is offered", "predicted", even, marks=False)
    capacity = [Line(row["throughput"], f"saturated: {short(row['throughput'])}/s") for row in closed if row["valid"]]
    wall = (Line(slo_ns / size, f"objective: p99 {short(slo_ns / size)} {unit}", limit=True),) if slo_ns else ()
    x = Axis("offered, requests/s", zero=True)
    panels = (
        Panel(
            "Throughput",
            x,
            Axis("answered, requests/s", zero=True),
            (Series("answered", "first", tuple(answered)), offered),
            tuple(capacity[:1]),
            spans,
        ),
        Panel("Latency from the schedule", x, Axis(f"latency, {unit}", zero=True), (*latency, oracle), wall, spans),
    )
    says = f"{name}, {words(opened[0]['config'])}: " + _says(valid, opened, size, unit, slo_ns)
    return Chart(f"load-{name}", f"{name}: throughput and latency against load", says, panels, "sweep")


def _latency(row: Mapping[str, Any], which: str, size: float) -> Point:
    found = row["latency"][which]
    low, high = (None if found[key] is None else found[key] / size for key in ("low_ns", "high_ns"))
    return Point(row["rate"], found["ns"] / size, low, high)


def _says(
    valid: Sequence[Mapping[str, Any]], opened: Sequence[Mapping[str, Any]], size: float, unit: str, slo_ns: int
) -> str:
    told = [
        f"{short(row['latency']['p99']['ns'] / size)} {unit} at {short(row['rate'])}/s"
        for row in valid
        if row["latency"]["p99"]["ns"]
    ]
    says = f"p99 is {', '.join(told)}." if told else "no p99 is known."
    if slo_ns and told:
        over = [row for row in valid if (row["latency"]["p99"]["ns"] or 0) > slo_ns]
        says += f" The objective of {short(slo_ns / size)} {unit} is "
        says += f"exceeded from {short(over[0]['rate'])}/s." if over else "kept at each of these loads."
    invalid = len(opened) - len(valid)
    return says + (f" {invalid} of {len(opened)} loads are INVALID and have no figures." if invalid else "")


def _why(row: Mapping[str, Any]) -> str:
    return str(row["reasons"][0]) if row["reasons"] else "INVALID"
