"""Which size and delay: requests a second of each configuration as a heat map, alongside what the oracle predicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from batchproof.reports.figures import Figure, figure_id
from batchproof.reports.plots import samples
from batchproof.reports.plots.chart import Cell, Chart, Heat, Point, short

MS = 1e6


def charts(measurement: Mapping[str, Any], folder: Path) -> Iterator[Chart]:
    """Yield a chart for each work of the measurement `sweep`. folder: of the bench, for intervals that it does not give."""
    known = {facts["id"]: Figure.of(facts) for facts in measurement.get("figures", ())}
    for name, work in measurement["works"].items():
        yield _chart(str(name), work, folder, known)


def place(config: Mapping[str, Any]) -> tuple[int, int]:
    """Return where a configuration stands in the grid: its size, and its delay in ns."""
    return config["max_batch_size"], config["max_queue_delay_ns"]


def words(config: Mapping[str, Any]) -> str:
    """Return a configuration as people say it."""
    return f"batch {config['max_batch_size']}, delay {short(config['max_queue_delay_ns'] / MS)} ms"


def saturated(row: Mapping[str, Any], folder: Path, x: float) -> Point | None:
    """Return the throughput of a run with its interval, which comes from its samples; None if it is INVALID."""
    if not row["valid"]:
        return None
    try:
        _, low, high = samples.throughput(samples.read(folder, row.get("samples")), row["duration_ns"])
    except samples.SamplesError:
        return Point(x, row["throughput"])
    value = row["throughput"]  # the parts of the run leave out its edges, so their mean may differ in the last digit
    return Point(x, value, None if low is None else min(low, value), None if high is None else max(high, value))


def _chart(name: str, work: Mapping[str, Any], folder: Path, known: Mapping[str, Figure]) -> Chart:
    rows = work["closed"]
    sizes, delays = ([*dict.fromkeys(sorted(place(row["config"])[at] for row in rows))] for at in (0, 1))
    best = place(work["best"])
    cells = []
    for row in rows:
        size, delay = place(row["config"])
        told = f"oracle {short(row['oracle']['predicted']['throughput'])}"
        told_by = known.get(figure_id("sweep.rows_per_s", work=name, size=size, delay=f"{delay / MS:g}ms"))
        if row["valid"] and told_by and told_by.valid:
            point: Point | None = Point(sizes.index(size), told_by.value, told_by.low, told_by.high)
        else:
            point = saturated(row, folder, sizes.index(size))
        chosen = (size, delay) == best and point is not None
        cells.append(Cell(sizes.index(size), delays.index(delay), point, told, chosen))
    heat = Heat(
        "Saturated: requests a second",
        "max_batch_size",
        "queue delay, ms",
        tuple(map(str, sizes)),
        tuple(short(delay / MS) for delay in delays),
        tuple(cells),
        "requests/s",
        "± half of the 99 % interval; framed: the choice",
    )
    bad = sum(cell.point is None for cell in cells)
    says = f"{name}: {work['says']}." + (f" {bad} of {len(cells)} fields are INVALID and have no figure." if bad else "")
    return Chart(f"sweep-{name}", f"{name}: size and delay, saturated", says, (heat,), "sweep")
