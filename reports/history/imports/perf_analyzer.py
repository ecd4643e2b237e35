"""perf_analyzer: its report (`-f`, CSV), and its raw records (`--profile-export-file`, JSON); both written by 2.51.0.

https://github.com/triton-inference-server/perf_analyzer/blob/main/docs/cli.md. Its latencies start at the actual send.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from batchproof.reports.history.imports.source import (
    Figures,
    Found,
    Source,
    as_list,
    as_mapping,
    as_number,
)

NAME = "perf_analyzer"
LOADS = {"Concurrency": "concurrency", "Request Rate": "rate"}  # the first column, and the condition of the figures
MODES = {"concurrency": "concurrency", "request_rate": "rate"}
COLUMNS = {
    "p50_ns": "p50 latency", "p90_ns": "p90 latency", "p95_ns": "p95 latency", "p99_ns": "p99 latency",
    "mean_ns": "Avg latency", "queue_ns": "Server Queue", "compute_ns": "Server Compute Infer",
}  # fmt: skip
PERCENTS = (50, 90, 95, 99)
RATE = ("inferences_per_s", "inferences/s")


def fits(source: Source) -> bool:
    """Return whether a file is of this kind."""
    if source.data is not None:
        return "experiments" in as_mapping(source.data)
    return "Inferences/Second" in source.first_line().split(",")


def read(source: Source) -> list[Found]:
    """Return the run in a file: a load is a condition of its figures."""
    return [_of_records(source)] if source.data is not None else [_of_report(source)]


def _of_report(source: Source) -> Found:
    """Times are in microseconds."""
    column = source.first_line().split(",")[0]
    load, figures = LOADS.get(column, "load"), Figures(NAME)
    for row in source.rows():
        where = {load: row.get(column, "")}
        figures.add(RATE[0], row.get("Inferences/Second"), RATE[1], "higher", where)
        for name, head in COLUMNS.items():
            figures.add(name, row.get(head), "ns", "lower", where, times=1e3)
    return Found(NAME, NAME, figures.all())


def _of_records(source: Source) -> Found:
    figures, ends = Figures(NAME), []
    for experiment in map(as_mapping, as_list(source.data["experiments"])):
        about = as_mapping(experiment.get("experiment"))
        where = {MODES.get(str(about.get("mode")), "load"): as_number(about.get("value")) or 0.0}
        sent, done = _times(experiment)
        edges = [edge for edge in as_list(experiment.get("window_boundaries")) if isinstance(edge, int)]
        edges = edges or [*sent.tolist(), *done.tolist()] or [0]
        first, last = min(edges), max(edges)
        inside = (done >= first) & (done <= last)
        latency, count = (done - sent)[inside], int(inside.sum())
        if last <= first or not count:
            continue
        ends.append(last)
        figures.add(RATE[0], count / ((last - first) / 1e9), RATE[1], "higher", where, n=count)
        figures.add("mean_ns", float(latency.mean()), "ns", "lower", where, n=count)
        ordered = np.sort(latency)
        for percent in PERCENTS:  # by its own convention, so that both files say the same
            value = int(ordered[int(percent / 100 * (count - 1) + 0.5)])
            figures.add(f"p{percent}_ns", value, "ns", "lower", where, n=count)
    version = source.data.get("version")
    when = max(ends) // 10**9 if ends else None
    return Found(f"{NAME} {version if isinstance(version, str) else ''}".strip(), NAME, figures.all(), when)


def _times(experiment: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return when each answered request was sent and when its last response came, in ns."""
    pairs = []
    for request in map(as_mapping, as_list(experiment.get("requests"))):
        responses = as_list(request.get("response_timestamps"))
        if responses:
            pairs.append((request.get("timestamp"), responses[-1]))
    if any(not isinstance(one, int) or not 0 <= one < 2**63 for pair in pairs for one in pair):
        raise ValueError("a timestamp is not a number of nanoseconds")
    table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]
