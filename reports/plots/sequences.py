"""Open sequences: steps a second and the latency of a step, against how many sequences are open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from batchproof.reports.figures import figure_id
from batchproof.reports.plots.chart import ROLES, Axis, Chart, Line, Panel, Point, Series, Span, around, short, unit_of

MIX = "fixed"  # the lengths for which every number of open sequences is measured


def charts(measurement: Mapping[str, Any]) -> Iterator[Chart]:
    """Yield a chart for each work of the measurement `sequences`."""
    figures = {one["id"]: one for one in measurement.get("figures", ())}
    for name, work in measurement["works"].items():
        rows = [row for row in work["held"] if not row["load"] and row["lengths"] == MIX]
        yield _chart(str(name), work, rows, figures)


def _chart(
    name: str, work: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], figures: Mapping[str, Mapping[str, Any]]
) -> Chart:
    strategies = list(dict.fromkeys(str(row["strategy"]) for row in rows))
    valid = [row for row in rows if row["valid"]]
    counts = sorted({row["open"] for row in rows})
    spoilt = [row for row in rows if not row["valid"]]
    spans = tuple(Span(*around(counts, row["open"], log=True), f"{row['strategy']}: {row['reasons'][0]}") for row in spoilt)
    size, unit = unit_of(max((row["latency"]["p50"]["ns"] or 0 for row in valid), default=0))
    served, late = [], []
    for strategy, role in zip(strategies, ROLES, strict=False):
        mine = [row for row in valid if row["strategy"] == strategy]
        served.append(Series(strategy, role, tuple(_rate(name, row, figures) for row in mine)))
        timed = [row for row in mine if row["latency"]["p50"]["ns"]]
        late.append(Series(strategy, role, tuple(_latency(row, size) for row in timed)))
    x = Axis("open sequences", log=True, ticks=tuple((count, f"{count:g}") for count in counts))
    slots = Line(work["slots"], f"slots: {work['slots']}", axis="x")
    limit = Line(work["limit_per_s"], f"limit: {short(work['limit_per_s'])}/s")
    panels = (
        Panel("Steps a second", x, Axis("steps/s", zero=True), tuple(served), (limit, slots), spans),
        Panel("A step, median", x, Axis(f"latency, {unit}", zero=True), tuple(late), (slots,), spans),
    )
    says = f"{name}: {_says(valid, work)}"
    if spoilt:
        says += f" {len(spoilt)} of {len(rows)} loads are INVALID and have no figures."
    return Chart(f"sequences-{name}", f"{name}: open sequences", says, panels, "sequences")


def _rate(work: str, row: Mapping[str, Any], figures: Mapping[str, Mapping[str, Any]]) -> Point:
    where = {"work": work, "strategy": row["strategy"], "lengths": row["lengths"], "open": row["open"]}
    known = figures.get(figure_id("sequences.steps_per_s", **where), {})
    return Point(row["open"], row["throughput"], known.get("low"), known.get("high"))


def _latency(row: Mapping[str, Any], size: float) -> Point:
    found = row["latency"]["p50"]
    low, high = (None if not found[key] else found[key] / size for key in ("low_ns", "high_ns"))
    return Point(row["open"], found["ns"] / size, low, high)


def _says(valid: Sequence[Mapping[str, Any]], work: Mapping[str, Any]) -> str:
    full = [row for row in valid if row["open"] == work["slots"]]
    if not full:
        return f"no valid run with {work['slots']} open sequences."
    told = ", ".join(f"{row['strategy']} {short(row['throughput'])} steps/s" for row in full)
    most = short(work["limit_per_s"])
    return f"with {work['slots']} open sequences, one in each slot: {told}; at most {most} are possible."
