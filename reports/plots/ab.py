"""Two targets side by side: what was answered, and every pair that the answers rest on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from batchproof.reports.ab_markdown import sentence
from batchproof.reports.formats.ab import AbReport
from batchproof.reports.plots.chart import Axis, Chart, Line, Panel, Point, Role, Series, Span, unit_of

SIDES: tuple[tuple[str, Role], ...] = (("base", "first"), ("new", "second"))
# What is shown of the blocks under each load: its name in a block, the title, the unit.
SHOWN = {"saturated": ("typical_rows_per_s", "At saturation", "rows/s"), "paced": ("p50_ns", "At the fixed load", "ns")}


def charts(report: AbReport) -> Iterator[Chart]:
    """Yield the chart of the answers, and that of the pairs."""
    if report.answers:
        yield _answers(report)
    if report.pairs:
        yield _pairs(report)


def _answers(report: AbReport) -> Chart:
    margin = 100 * report.header["margin"]
    ticks, points, spans = [], [], []
    for place, one in enumerate(report.answers):
        ticks.append((float(place), f"{one['question']}\n{one['answer']}".replace(" ", "\n", 1)))
        ratio = one["ratio"]
        if one["answer"] == "INVALID" or ratio["estimate"] is None:
            spans.append(Span(place - 0.5, place + 0.5, str(one["why"] or one["answer"])))
            continue
        estimate, low, high = (None if ratio[key] is None else _percent(ratio[key]) for key in ("estimate", "low", "high"))
        points.append(Point(place, estimate or 0.0, low, high))
    panel = Panel(
        "Change, with its interval",
        Axis("", ticks=tuple(ticks), reach=(-0.5, len(ticks) - 0.5)),
        Axis("new against base, %"),
        (Series("", "first", tuple(points), joined=False),),
        (Line(0.0, ""), Line(margin, f"SAME up to ± {margin:g} %"), Line(-margin, "")),
        tuple(spans),
    )
    says = "; ".join(f"{one['answer']}, {sentence(one)}" for one in report.answers)
    note = f"Between the lines at {margin:g} % the sides are the SAME. For latency, less is better."
    return Chart("ab-answers", "New against base", f"{says}.", (panel,), "answers", note)


def _percent(ratio: float) -> float:
    return 100 * (ratio - 1)


def _pairs(report: AbReport) -> Chart:
    panels, told = [], []
    for load in dict.fromkeys(one["load"] for one in report.pairs):
        pairs = [one for one in report.pairs if one["load"] == load]
        value, title, unit = SHOWN[load]
        panels.append(_panel(pairs, value, title, unit))
        lost = sum(bool(one["dropped"]) for one in pairs)
        told.append(f"{len(pairs)} pairs {title[0].lower()}{title[1:]}" + (f", {lost} INVALID" if lost else ""))
    note = "Each point is one block, as it was measured; the intervals are those of the answers."
    return Chart("ab-pairs", "The pairs", f"{'; '.join(told)}.", tuple(panels), "pairs", note)


def _panel(pairs: Sequence[Mapping[str, Any]], value: str, title: str, unit: str) -> Panel:
    counted = [one for one in pairs if not one["dropped"]]
    values = {side: [(one["number"] + 1, one[side]["values"][value]) for one in counted] for side in ("base", "new")}
    size = 1.0
    if unit == "ns":
        size, unit = unit_of(max((y for found in values.values() for _, y in found), default=0))
    series = tuple(
        Series(side, role, tuple(Point(x, y / size, exact=True) for x, y in values[side])) for side, role in SIDES
    )
    spans = tuple(Span(one["number"] + 0.5, one["number"] + 1.5, str(one["dropped"])) for one in pairs if one["dropped"])
    name = "typical rows/s" if unit == "rows/s" else f"median latency, {unit}"
    return Panel(title, Axis("pair", whole=True), Axis(name, zero=True), series, (), spans)
