"""Google Benchmark: the file of `--benchmark_out_format=json` (written by 1.9.5, its JSON schema 1).

https://github.com/google/benchmark/blob/main/docs/user_guide.md#output-formats
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from statistics import median
from typing import Any

from batchproof.reports.history.imports.source import (
    NS,
    Figures,
    Found,
    NotImported,
    Source,
    as_list,
    as_mapping,
    as_number,
    as_seconds,
)

NAME = "Google Benchmark"
SCHEMA = 1


def fits(source: Source) -> bool:
    """Return whether a file is of this kind."""
    return "benchmarks" in as_mapping(source.data) and "context" in source.data


def read(source: Source) -> list[Found]:
    """Return the run in a file. Of repetitions it takes the median; what ended with an error is left out."""
    context = as_mapping(source.data["context"])
    if (schema := context.get("json_schema_version", SCHEMA)) != SCHEMA:
        raise NotImported(f"{source.path}: its JSON schema is {schema!r}, and {SCHEMA} is the one that is known")
    figures = Figures("google_benchmark")
    for test, entries in _by_name(as_list(source.data["benchmarks"])).items():
        _add(figures, test, entries)
    when = as_seconds(context.get("date"))
    program = PurePath(str(context.get("executable") or "")).name
    cpus = context.get("num_cpus")
    host = {"cpus": cpus} if isinstance(cpus, int) else {}
    origin = f"{NAME} {context.get('library_version', '')}".strip()
    return [Found(origin, _form(context), figures.all(), when, target=program, host=host)]


def _form(context: Mapping[str, Any]) -> str:
    """Return the form: a library that was built for debugging measures something else."""
    return NAME if context.get("library_build_type") != "debug" else f"{NAME} debug"


def _by_name(entries: Sequence[Any]) -> dict[str, list[Mapping[str, Any]]]:
    """Return the results of each benchmark: its repetitions, or their median where only that is reported."""
    single: dict[str, list[Mapping[str, Any]]] = {}
    medians: dict[str, list[Mapping[str, Any]]] = {}
    for entry in map(as_mapping, entries):
        name = str(entry.get("run_name") or entry.get("name") or "")
        if entry.get("error_occurred") or entry.get("skipped"):
            continue
        if entry.get("run_type", "iteration") == "iteration":
            single.setdefault(name, []).append(entry)
        elif entry.get("aggregate_name") == "median":
            medians.setdefault(name, []).append(entry)
    return {**medians, **single}


def _add(figures: Figures, test: str, entries: Sequence[Mapping[str, Any]]) -> None:
    times = NS.get(str(entries[0].get("time_unit", "ns")))
    if times is None:
        return
    n = len(entries) if entries[0].get("run_type", "iteration") == "iteration" else entries[0].get("iterations", 1)

    def middle(key: str) -> float | None:
        values = [value for entry in entries if (value := as_number(entry.get(key))) is not None]
        return median(values) if values else None

    where = {"test": test}
    figures.add("real_time_ns", middle("real_time"), "ns", "lower", where, times=times, n=n)
    figures.add("cpu_time_ns", middle("cpu_time"), "ns", "lower", where, times=times, n=n)
    figures.add("items_per_s", middle("items_per_second"), "items/s", "higher", where, n=n)
    figures.add("bytes_per_s", middle("bytes_per_second"), "bytes/s", "higher", where, n=n)
