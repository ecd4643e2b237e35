"""What overload does: goodput, and the latency of what is answered, against the offered load."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from batchproof.reports.plots import samples
from batchproof.reports.plots.chart import ROLES, Axis, Chart, Line, Panel, Point, Role, Series, Span, around, short, unit_of
from batchproof.stats.arrays import NEVER

WIDEST = 0.3  # of an INVALID part, on either side of its load


def charts(measurement: Mapping[str, Any], folder: Path) -> Iterator[Chart]:
    """Yield the chart of the measurement `overload`."""
    rows, capacity, slo_ns = measurement["rows"], measurement["capacity"], measurement["slo_ns"]
    limits = list(dict.fromkeys(str(row["limit"]) for row in rows))
    loads = [row["load"] for row in rows]
    spans = tuple(_span(row, loads, limits) for row in rows if not row["valid"])
    valid = [row for row in rows if row["valid"]]
    size, unit = unit_of(max([slo_ns, *(row["answered_p99_ns"] or 0 for row in valid)]))
    good: list[Series] = []
    late: list[Series] = []
    for limit, role in zip(limits, ROLES, strict=False):
        mine = [row for row in valid if row["limit"] == limit]
        good.append(Series(limit, role, tuple(_goodput(row, folder, slo_ns) for row in mine)))
        late.append(_late(limit, role, mine, folder, size))
    x = Axis("offered, times the capacity", zero=True)
    panels = (
        Panel(
            f"Answered within {short(slo_ns / size)} {unit}",
            x,
            Axis("requests/s", zero=True),
            tuple(good),
            (Line(capacity, f"capacity: {short(capacity)}/s"),),
            spans,
        ),
        Panel(
            "p99 of what is answered",
            x,
            Axis(f"latency, {unit}", log=True),
            tuple(late),
            (Line(slo_ns / size, f"objective: {short(slo_ns / size)} {unit}", limit=True),),
            spans,
        ),
    )
    says = _says(valid, capacity, slo_ns, size, unit)
    if left := len(rows) - len(valid):
        says += f" {left} of {len(rows)} loads are INVALID and have no figures."
    yield Chart("overload", "Overload: goodput and latency", says, panels, "overload")


def _span(row: Mapping[str, Any], loads: Sequence[float], limits: Sequence[str]) -> Span:
    """Return the stripe of one limit at one load, so that the other limits stay visible there."""
    low, high = around(loads, row["load"])
    low, high = max(low, row["load"] - WIDEST), min(high, row["load"] + WIDEST)
    width, at = (high - low) / len(limits), limits.index(str(row["limit"]))
    return Span(low + at * width, low + (at + 1) * width, f"{row['limit']}: {row['reasons'][0] if row['reasons'] else ''}")


def _goodput(row: Mapping[str, Any], folder: Path, slo_ns: int) -> Point:
    try:
        _, low, high = samples.goodput(samples.read(folder, row.get("samples")), slo_ns, row["offered"])
    except samples.SamplesError:
        return Point(row["load"], row["goodput"])
    return Point(row["load"], row["goodput"], *_around(row["goodput"], low, high))


def _late(limit: str, role: Role, rows: Sequence[Mapping[str, Any]], folder: Path, size: float) -> Series:
    points = []
    for row in rows:
        if not (value := row["answered_p99_ns"]):
            continue
        try:
            latency_ns = samples.read(folder, row.get("samples")).latency_ns
            _, low, high = samples.quantile(latency_ns[latency_ns != NEVER], 99)
        except samples.SamplesError:
            low = high = None
        low, high = _around(value, low, high)
        points.append(Point(row["load"], value / size, low and low / size, high and high / size))
    return Series(limit, role, tuple(points))


def _around(value: float, low: float | None, high: float | None) -> tuple[float | None, float | None]:
    """Return bounds that include the value: rounding may have put it outside by the last digit."""
    return None if low is None else min(low, value), None if high is None else max(high, value)


def _says(valid: Sequence[Mapping[str, Any]], capacity: float, slo_ns: int, size: float, unit: str) -> str:
    most = max((row["load"] for row in valid), default=None)
    if most is None or not capacity:
        return "Overload: no valid run."
    told = [f"{row['limit']} {row['goodput'] / capacity:.0%}" for row in valid if row["load"] == most]
    within = f"within {short(slo_ns / size)} {unit}"
    return f"At {short(most)} times the capacity, answered {within}, of the capacity: {', '.join(told)}."
