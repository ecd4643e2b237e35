"""A run over time, in bins: offered, served and refused requests, how many wait, and how long they take."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from batchproof.reports.plots import samples
from batchproof.reports.plots.chart import Axis, Chart, Line, Panel, Point, Role, Series, short, unit_of
from batchproof.reports.plots.samples import Samples
from batchproof.stats.arrays import NEVER, Ints
from batchproof.stats.percentile import fewest, interval, percentile

BINS = 48
S = 1e9
TIME = Axis("time from the start of the run, s")
NOTE = "Requests are counted, so only the latency has an interval (99 %, of the median of each bin)."


def charts(measurement: Mapping[str, Any], folder: Path) -> Iterator[Chart]:
    """Yield a chart for each spike of the measurement `overload` whose samples are there."""
    for spike in measurement["spikes"]:
        if chart := _spike(spike, folder, measurement["slo_ns"]):
            yield chart


def edges(one: Samples) -> Ints:
    """Return the borders of the bins of a run, in ns: int64 [BINS + 1]."""
    return np.linspace(0, max(one.end_ns, BINS), BINS + 1).astype(np.int64)


def rate(times_ns: Ints, borders: Ints, label: str, role: Role) -> Series:
    """Return how many of these moments fall into each bin, a second."""
    counts, _ = np.histogram(times_ns[times_ns != NEVER], borders)
    width_s = float(borders[1] - borders[0]) / S
    return _steps(label, role, borders, counts / width_s)


def waiting(one: Samples, borders: Ints, label: str, role: Role) -> Series:
    """Return how many requests are sent and not yet over at the end of each bin."""
    sent, done = np.sort(one.sent_ns[one.sent_ns != NEVER]), np.sort(one.done_ns[one.sent_ns != NEVER])
    inside = np.searchsorted(sent, borders[1:], side="right") - np.searchsorted(done, borders[1:], side="right")
    return _steps(label, role, borders, inside)


def latency(one: Samples, borders: Ints, size: float, label: str, role: Role) -> Series:
    """Return the median latency by when a request was due, with its interval, in bins that are twice as wide.

    A bin with too few requests has no point.
    """
    points, latency_ns, wide = [], one.latency_ns, borders[::2]  # a median needs more requests than a count
    for start, end in itertools.pairwise(wide.tolist()):
        inside = latency_ns[(one.scheduled_ns >= start) & (one.scheduled_ns < end)]
        if len(inside) < fewest(50) or (found := percentile(inside, 50)) == NEVER:
            continue
        low, high = interval(inside, 50)
        above = None if high == NEVER else high / size
        points.append(Point((start + end) / 2 / S, found / size, low / size if low else None, above))
    return Series(label, role, tuple(points), band=True, marks=False)


def moments(phases: Mapping[str, Mapping[str, Any]], names: Mapping[str, str]) -> tuple[Line, ...]:
    """Return lines where phases begin; each lasts as long as its requests take at its rate. names: phase to label."""
    start, found = 0.0, []
    for phase, facts in phases.items():
        if phase in names:
            found.append(Line(start, names[phase], axis="x"))
        start += facts["requests"] / facts["offered"] if facts["offered"] else 0.0
    return tuple(found)


def _steps(label: str, role: Role, borders: Ints, values: npt.NDArray[Any]) -> Series:
    ends = (float(borders[-1]) / S, float(values[-1]))
    pairs = [*zip((borders[:-1] / S).tolist(), map(float, values), strict=True), ends]
    return Series(label, role, tuple(Point(x, y, exact=True) for x, y in pairs), steps=True, marks=False)


def _spike(spike: Mapping[str, Any], folder: Path, slo_ns: int) -> Chart | None:
    limit = str(spike["limit"])
    name, title = f"overload-{limit}", f"A spike of load, {limit}"
    if not spike["valid"]:
        why = f"INVALID: {spike['reasons'][0] if spike['reasons'] else ''}"
        void = Panel("Requests a second", TIME, Axis("requests/s"), void=why)
        return Chart(name, title, f"A spike, {limit}: {why}.", (void,), "overload")
    try:
        one = samples.read(folder, spike.get("samples"))
    except samples.SamplesError:
        return None
    borders = edges(one)
    late = one.latency_ns
    size, unit = unit_of(max(float(late[late != NEVER].max(initial=0)), slo_ns))
    refused = np.where(one.answered, NEVER, one.done_ns)
    flows = [
        rate(one.scheduled_ns, borders, "offered", "first"),
        rate(np.where(one.answered, one.done_ns, NEVER), borders, "served", "second"),
    ]
    flows += [rate(refused, borders, "refused", "third")] if (refused != NEVER).any() else []
    when = moments(spike["phases"], {"spike": "spike", "after": "over"})
    wall = Line(slo_ns / size, f"objective: {short(slo_ns / size)} {unit}", limit=True)
    panels = (
        Panel("Requests a second", TIME, Axis("requests/s", zero=True), tuple(flows), when),
        Panel(
            "Requests inside",
            TIME,
            Axis("waiting or in the model", zero=True),
            (waiting(one, borders, "inside", "first"),),
            when,
        ),
        Panel(
            "Median latency",
            TIME,
            Axis(f"latency, {unit}", zero=True),
            (latency(one, borders, size, "median, by when a request was due", "first"),),
            (*when, wall),
        ),
    )
    return Chart(name, title, _says(spike, limit), panels, "overload", NOTE)


def _says(spike: Mapping[str, Any], limit: str) -> str:
    phases = spike["phases"]
    refused = sum(part["requests"] - part["outcomes"].get("answered", 0) for part in phases.values())
    back = spike["recovery_ns"]
    never = "the latency is not back before the load ends"
    recovers = never if back is None else f"the latency is back {short(back / S)} s after it"
    attained = phases["spike"]["attainment"] if "spike" in phases else None
    within = "" if attained is None else f" {attained:.0%} of its requests are answered within the objective,"
    return f"A spike, {limit}:{within} {refused} requests are refused, and {recovers}."
