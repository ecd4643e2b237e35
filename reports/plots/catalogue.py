"""All charts of a bench."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from batchproof.reports.formats.bench import BenchReport
from batchproof.reports.plots import cost, distribution, isolation, load, over_time, overload, sequences, static, sweep, tune
from batchproof.reports.plots.chart import Chart
from batchproof.reports.plots.engines import against_load, others, tuning
from batchproof.reports.wording import line

Make = Callable[[Mapping[str, Any], Path, int], Iterable[Chart]]  # a measurement, the bench's folder, the objective in ns
MADE: tuple[tuple[str, Make], ...] = (
    ("static", lambda one, _folder, _slo_ns: static.charts(one)),
    ("sweep", lambda one, folder, _slo_ns: sweep.charts(one, folder)),
    ("sweep", load.charts),
    ("sweep", distribution.charts),
    ("isolation", lambda one, folder, _slo_ns: isolation.charts(one, folder)),
    ("overload", lambda one, folder, _slo_ns: overload.charts(one, folder)),
    ("overload", lambda one, folder, _slo_ns: over_time.charts(one, folder)),
    ("sequences", lambda one, _folder, _slo_ns: sequences.charts(one)),
    ("cost", lambda one, _folder, _slo_ns: cost.charts(one)),
    ("tune", lambda one, _folder, _slo_ns: tuning.charts(one) if "pace" in one else tune.charts(one)),
    ("saturation", lambda one, folder, _slo_ns: against_load.saturation(one, folder)),
    ("latency", lambda one, folder, _slo_ns: against_load.latency(one, folder)),
    ("prefill", lambda one, folder, _slo_ns: others.prefill(one, folder)),
    ("surge", lambda one, folder, _slo_ns: against_load.surge(one, folder)),
    ("surge", lambda one, folder, _slo_ns: others.recovery(one, folder)),
    ("clients", lambda one, folder, _slo_ns: others.clients(one, folder)),
)


@dataclass(frozen=True)
class Charts:
    """The charts of one bench, in the order of its measurements. left_out: what could not be made of its lines, and why."""

    charts: tuple[Chart, ...]
    left_out: tuple[str, ...] = ()


def charts(report: BenchReport, folder: Path) -> Charts:
    """Return the charts of a bench. folder: where it lies, with its samples.

    A measurement without figures (skipped, or INVALID as a whole before anything was known) has no chart. Where a line is
    not what this version of Batchproof writes, its chart is left out and named.
    """
    found: list[Chart] = []
    left_out: dict[str, str] = {}
    for one in report.measurements:
        for name, make in MADE:
            if one["measurement"] != name or not _measured(one):
                continue
            try:
                found += [chart for chart in make(one, folder, report.header["slo_ns"]) if not chart.empty]
            except (KeyError, TypeError, ValueError, IndexError, AttributeError, ZeroDivisionError, OverflowError) as error:
                why = line(f"{type(error).__name__}: {error}")
                left_out.setdefault(name, f"{name}: its line in bench.jsonl cannot be drawn ({why})")
    return Charts(tuple(found), tuple(left_out.values()))


def _measured(one: Mapping[str, Any]) -> bool:
    """Whether a line has figures at all: one that was skipped, or that broke, has only the fields that all lines have."""
    return one["word"] not in ("SKIPPED", "ERROR") and bool(set(one) & {"works", "models", "rows", "points"})
