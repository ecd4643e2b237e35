"""What an engine serves against the load: saturation and its limit, TTFT, the time between tokens, goodput, overload."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from batchproof.reports.plots.chart import Axis, Chart, Line, Panel, Point, Role, Series, Span, around, short, unit_of
from batchproof.reports.plots.engines import texts
from batchproof.reports.plots.samples import Bounds, Samples, SamplesError, quantile, throughput

PERCENTS: tuple[tuple[str, float, Role], ...] = (("p50", 50, "first"), ("p90", 90, "second"), ("p99", 99, "third"))
TIMES = {"ttft": "Time to the first token", "itl": "Time between tokens"}
UNKNOWN: Bounds = (None, None, None)


def saturation(measurement: Mapping[str, Any], folder: Path) -> Iterator[Chart]:
    """Yield for each work what it serves at most, and what an iteration takes."""
    for name, work in measurement["works"].items():
        if work["valid"]:
            yield _saturation(str(name), work, folder)


def latency(measurement: Mapping[str, Any], folder: Path) -> Iterator[Chart]:
    """Yield for each work its times and its goodput against load."""
    for name, work in measurement["works"].items():
        yield _latency(str(name), work, folder)


def surge(measurement: Mapping[str, Any], folder: Path) -> Iterator[Chart]:
    """Yield for each work its goodput and its TTFT where more is offered than it can serve."""
    for name, work in measurement["works"].items():
        yield _overload(str(name), work, folder)


def _saturation(name: str, work: Mapping[str, Any], folder: Path) -> Chart:
    rows, tokens, limit = work["config"]["max_num_seqs"], work["tokens_per_s"], work["limit_tokens_per_s"]
    clients = (1.0, 2.0 * rows)
    served = [_tokens(folder, path, at) for at, path in zip(clients, reversed(work["samples"]), strict=True)]
    lines = (Line(limit, f"limit of the device: {short(limit)}/s", limit=True),) if limit else ()
    x = Axis("clients, each with one request at a time", log=True, ticks=tuple((at, f"{at:g}") for at in clients))
    measured = Series("measured", "first", tuple(filter(None, served)), joined=False)
    panels = [Panel("Tokens a second", x, Axis("tokens/s", zero=True), (measured,), lines)]
    if work["pace"]:
        panels.append(_iterations(work, rows))
    told = f", {work['tokens_per_s'] / limit:.0%} of what the device allows" if limit else ""
    says = f"{name}: {short(tokens)} tokens a second when it always has more to do than it has rows{told}."
    return Chart(f"saturation-{name}", f"{name}: what it serves at most", says, tuple(panels), "saturation")


def _iterations(work: Mapping[str, Any], rows: int) -> Panel:
    """Draw what an iteration takes that computes one token for each of so many rows, alongside what the device takes."""
    pace, device = work["pace"], work["work"]
    places = sorted({1, *(rows * part // 4 for part in (1, 2, 3, 4)), rows} - {0})
    engine = [pace["base_ns"] + (pace["row_ns"] + pace["token_ns"]) * at for at in places]
    size, unit = unit_of(max(engine))
    alone = [device["base_ns"] + device["row_ns"] * at for at in places]
    whole, paced = (
        tuple(Point(at, ns / size, exact=True) for at, ns in zip(places, each, strict=True)) for each in (engine, alone)
    )
    device_alone = Series("the device alone", "predicted", paced, marks=False)
    shown = (Series("the engine", "first", whole), device_alone)[: 2 if any(alone) else 1]
    return Panel("An iteration, one token a row", Axis("rows", zero=True), Axis(f"time, {unit}", zero=True), shown)


def _tokens(folder: Path, path: object, clients: float) -> Point | None:
    """Return the tokens a second of a closed loop: of the stretch in which it sends."""
    try:
        found = texts.read(folder, path)
    except SamplesError:
        return None
    nothing = np.zeros(len(found.piece_ns), np.int64)
    pieces = Samples(nothing, nothing, found.piece_ns, nothing, nothing)
    end_ns = int(found.whole.sent_ns.max(initial=1))
    value, low, high = throughput(pieces, end_ns)
    exact = float(np.count_nonzero(found.piece_ns <= end_ns)) * 1e9 / end_ns
    return texts.point(clients, exact, (value, low, high), 1)


def _latency(name: str, work: Mapping[str, Any], folder: Path) -> Chart:
    rows, goal = work["rows"], work["objective"]
    valid = [row for row in rows if row["valid"]]
    spans = _invalid(rows)
    x = Axis("offered, times the saturation", zero=True)
    panels = [_times(which, title, valid, goal[f"{which}_ns"], folder, x, spans) for which, title in TIMES.items()]
    good = [texts.point(row["load"], row["goodput_per_s"], _goodput(row, goal, folder), 1) for row in valid]
    even = tuple(Point(row["load"], row["rate"], exact=True) for row in rows)
    kept = Series("keep the objective", "first", tuple(filter(None, good)))
    offered = Series("as many as are offered", "predicted", even, marks=False)
    panels.append(Panel("Goodput", x, Axis("requests/s", zero=True), (kept, offered), (), spans))
    says = f"{name}: {work['says']}." if valid else f"{name}: no valid run."
    invalid = len(rows) - len(valid)
    says += f" {invalid} of {len(rows)} loads are INVALID and have no figures." if invalid else ""
    return Chart(f"texts-{name}", f"{name}: tokens against load", says, tuple(panels), "latency")


def _times(
    which: str, title: str, valid: Sequence[Mapping[str, Any]], goal_ns: int, folder: Path, x: Axis, spans: tuple[Span, ...]
) -> Panel:
    known = [row["times"][which][name] or 0 for row in valid for name, _, _ in PERCENTS]
    size, unit = unit_of(max([*known, goal_ns], default=0))
    series = []
    for name, percent, role in PERCENTS:
        known_ns = [(row, row["times"][which][name]) for row in valid]
        points = [texts.point(row["load"], ns, _bounds(row, which, percent, folder), size) for row, ns in known_ns]
        series.append(Series(name, role, tuple(filter(None, points))))
    goal = Line(goal_ns / size, f"objective: {short(goal_ns / size)} {unit}", limit=True)
    return Panel(title, x, Axis(f"time, {unit}", zero=True), tuple(one for one in series if one.points), (goal,), spans)


def _bounds(row: Mapping[str, Any], which: str, percent: float, folder: Path) -> Bounds:
    try:
        found = texts.read(folder, row.get("samples"))
    except SamplesError:
        return UNKNOWN
    return quantile(found.ttft_ns if which == "ttft" else found.gap_ns, percent)


def _goodput(row: Mapping[str, Any], goal: Mapping[str, Any], folder: Path) -> Bounds:
    try:
        return texts.kept(texts.read(folder, row.get("samples")), goal["ttft_ns"], goal["itl_ns"], row["rate"])
    except SamplesError:
        return UNKNOWN


def _overload(name: str, work: Mapping[str, Any], folder: Path) -> Chart:
    rows, capacity = work["rows"], work["capacity_per_s"]
    valid = [row for row in rows if row["valid"]]
    spans = _invalid(rows)
    x = Axis("offered, times the saturation", zero=True)
    good = [texts.point(row["load"], row["goodput_per_s"], _goodput(row, work["objective"], folder), 1) for row in valid]
    late = [row["ttft_p50_ns"] for row in valid]
    size, unit = unit_of(max([one or 0 for one in late], default=0))
    first = [
        texts.point(row["load"], one, _bounds(row, "ttft", 50, folder), size) for row, one in zip(valid, late, strict=True)
    ]
    panels = (
        Panel(
            "Goodput",
            x,
            Axis("requests/s", zero=True),
            (Series("keep the objective", "first", tuple(filter(None, good))),),
            (Line(capacity, f"saturated: {short(capacity)}/s"),),
            spans,
        ),
        Panel(
            "Median time to the first token",
            x,
            Axis(f"time, {unit}", log=True),
            (Series("p50", "first", tuple(filter(None, first))),),
            (),
            spans,
        ),
    )
    return Chart(f"surge-{name}", f"{name}: more than it can serve", f"{name}: {work['says']}.", panels, "surge")


def _invalid(rows: Sequence[Mapping[str, Any]]) -> tuple[Span, ...]:
    loads = [row["load"] for row in rows]
    lost = [row for row in rows if not row["valid"]]
    return tuple(Span(*around(loads, row["load"]), (row["reasons"] or ["INVALID"])[0]) for row in lost)
