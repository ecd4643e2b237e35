"""What tuning an engine predicted for each pair of limits, and what was verified."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from batchproof.reports.plots.chart import Axis, Cell, Chart, Heat, Panel, Point, Series, Span, around, short
from batchproof.reports.plots.engines.texts import share


def charts(measurement: Mapping[str, Any]) -> Iterator[Chart]:
    """Yield the two charts of the measurement `tune` of an engine."""
    yield _grid(measurement)
    if measurement["verified"]:
        yield _verified(measurement)


def _grid(measurement: Mapping[str, Any]) -> Chart:
    points, chosen = measurement["points"], measurement["chosen"]
    columns, rows = (sorted({pair(one)[at] for one in points}) for at in (0, 1))
    best = pair(chosen) if chosen else None
    cells = tuple(
        Cell(
            columns.index(pair(one)[0]),
            rows.index(pair(one)[1]),
            Point(columns.index(pair(one)[0]), one["rate"], exact=True),
            f"{one['fails']} is lost first" if one["fails"] else "",
            pair(one) == best,
        )
        for one in points
    )
    goal = measurement["objective"]
    within = f"a TTFT of {short(goal['ttft_ns'] / 1e6)} ms and gaps of {short(goal['itl_ns'] / 1e6)} ms"
    heat = Heat(
        "Simulated: the highest rate that keeps the objective",
        "max_num_seqs",
        "max_num_batched_tokens",
        tuple(map(str, columns)),
        tuple(map(str, rows)),
        cells,
        "requests/s",
        "framed: the choice" if chosen else "nothing was chosen",
    )
    title = "Tune: what each pair of limits can serve"
    note = "Simulated from the measured pace; the verification on the engine is the next chart."
    says = f"{measurement['says'][0]}. The objective: 99 % within {within}."
    return Chart("tune-grid", title, says, (heat,), "tune", note)


def _verified(measurement: Mapping[str, Any]) -> Chart:
    tried = measurement["verified"]
    rates = [one["rate"] for one in tried]
    valid = [one for one in tried if not one["reasons"]]
    spans = tuple(Span(*around(rates, one["rate"]), one["reasons"][0]) for one in tried if one["reasons"])
    measured = tuple(share(one["rate"], one["kept"], one["requests"]) for one in valid)
    predicted = tuple(Point(one["rate"], 100 * one["predicted"], exact=True) for one in tried)
    panel = Panel(
        "Requests that keep the objective",
        Axis("offered, requests/s"),
        Axis("% of all requests"),
        (Series("measured", "first", measured, joined=False), Series("simulated", "predicted", predicted, joined=False)),
        (),
        spans,
    )
    told = [f"{pair(one)[0]} rows, {pair(one)[1]} tokens at {short(one['rate'])}/s: {one['verdict']}" for one in tried]
    says = f"Verified on the engine: {'; '.join(told)}."
    return Chart("tune-verified", "Tune: how the engine keeps the objective", says, (panel,), "tune")


def pair(one: Mapping[str, Any]) -> tuple[int, int]:
    """Return the two limits of a configuration."""
    return one["config"]["max_num_seqs"], one["config"]["max_num_batched_tokens"]
