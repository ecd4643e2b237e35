"""The whole distribution of latencies, on an axis of percentiles: each nine takes as much room as the one before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from batchproof.reports.plots import samples
from batchproof.reports.plots.chart import ROLES, Axis, Chart, Line, Panel, Point, Series, short, unit_of
from batchproof.reports.plots.sweep import place, words
from batchproof.stats.arrays import NEVER, Ints
from batchproof.stats.autocorrelation import integrated_time
from batchproof.stats.percentile import fewest
from batchproof.stats.quantiles import CONFIDENCE, bounding_ranks

TICKS = ((0.0, "0"), (0.5, "50"), (0.9, "90"), (0.99, "99"), (0.999, "99.9"), (0.9999, "99.99"))
PLACES = 72  # points of a curve
KNOWN = (50.0, 90.0, 99.0, 99.9, 99.99)


def charts(measurement: Mapping[str, Any], folder: Path, slo_ns: int) -> Iterator[Chart]:
    """Yield a chart for each work of the measurement `sweep` whose samples are there."""
    for name, work in measurement["works"].items():
        best = place(work["best"])
        opened = [row for row in work["open"] if place(row["config"]) == best]
        if chart := _chart(str(name), opened, folder, slo_ns):
            yield chart


def nines(share: float) -> float:
    """Return where a share stands on the axis: 0 at 0, 1 at 90 %, 2 at 99 %."""
    return -float(np.log10(1 - share))


def curve(latency_ns: Ints, size: float) -> tuple[Point, ...]:
    """Return the percentiles of latencies in the order of the schedule, each with its interval, in units of `size` ns.

    It ends at the highest usual percentile that so many requests can bound, or where requests were not answered.
    """
    count, ordered = len(latency_ns), np.sort(latency_ns)
    known = [percent for percent in KNOWN if fewest(percent) <= count]
    if not known:
        return ()
    last = nines(known[-1] / 100)
    tau = integrated_time(latency_ns > ordered[int(0.9 * count)])
    effective = max(1, int(count / tau))
    points = []
    for at in np.linspace(0.02, last, PLACES).tolist():
        share = 1 - 10**-at
        found = int(ordered[min(count - 1, int(np.ceil(share * count)) - 1)])
        if found == NEVER:
            break
        low, high = bounding_ranks(effective, share, (1 + CONFIDENCE) / 2)
        below: float | None = int(ordered[max(0, low * count // effective - 1)]) if low else None
        above: float | None = int(ordered[min(count, -(-high * count // effective)) - 1]) if high <= effective else None
        below, above = (None if one is None or one == NEVER else one / size for one in (below, above))
        points.append(Point(at, found / size, below, above))
    return tuple(points)


def _chart(name: str, opened: Sequence[Mapping[str, Any]], folder: Path, slo_ns: int) -> Chart | None:
    found, missing, invalid = [], 0, 0
    for row in opened:
        if not row["valid"]:
            invalid += 1
            continue
        try:
            found.append((row, samples.read(folder, row.get("samples"))))
        except samples.SamplesError:
            missing += 1
    if not opened or (missing and not found):
        return None
    every = [one.latency_ns[one.latency_ns != NEVER] for _, one in found]
    size, unit = unit_of(max((float(one.max(initial=0)) for one in every), default=0.0))
    series = tuple(
        Series(
            f"{short(row['rate'])}/s ({row['fraction']:.0%} of capacity)",
            role,
            curve(one.latency_ns, size),
            True,
            marks=False,
        )
        for (row, one), role in zip(found, ROLES, strict=False)
    )
    top = max((point.x for one in series for point in one.points), default=2.0)
    ticks = tuple((nines(share), label) for share, label in TICKS if nines(share) <= top + 1e-9)
    wall = (Line(slo_ns / size, f"objective: {short(slo_ns / size)} {unit}", limit=True),) if slo_ns else ()
    void = "" if found else "INVALID: no load was measured on a quiet host"
    panel = Panel(
        "Latency from the schedule, by percentile",
        Axis("percentile", ticks=ticks),
        Axis(f"latency, {unit}", zero=True),
        series,
        wall,
        void=void,
    )
    says = f"{name}, {words(opened[0]['config'])}: " + _says(series, unit)
    says += f" {invalid} of {len(opened)} loads are INVALID and left out." if invalid else ""
    note = "The bands hold with 99 % confidence at each percentile; a curve ends where too few requests are left."
    return Chart(f"latency-{name}", f"{name}: distribution of latency", says, (panel,), "sweep", note)


def _says(series: Sequence[Series], unit: str) -> str:
    told = [
        f"at {one.label} from {short(one.points[0].y)} to {short(one.points[-1].y)} {unit}" for one in series if one.points
    ]
    return f"latency goes {'; '.join(told)}." if told else "no distribution is known."
