"""GenAI-Perf and AIPerf: `profile_export_genai_perf` and `profile_export_aiperf`, as JSON or CSV.

After AIPerf's own example files (examples/artifacts/run1 of its repository) and its description of the JSON export, up to
schema version 1.5 (https://docs.nvidia.com/aiperf/reference/json-export-schema), and after GenAI-Perf's tests of its
exporters. Times and throughputs become figures; counts, lengths and timestamps describe the load.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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

NAME = "GenAI-Perf or AIPerf"
SCHEMA = 1  # the major version that is known
HEADS = re.compile(r"Metric,avg,min,max,")
STATISTICS = {"avg": "mean", "p50": "p50", "p90": "p90", "p95": "p95", "p99": "p99"}
NOT_SPEED = re.compile(r"timestamp|duration|length|count|isl|osl")
RATE = re.compile(r"(?:(\w+)/sec(?:/user)?|per sec)")


@dataclass(frozen=True)
class Metric:
    """One metric. values: by statistic; a single value is its mean."""

    name: str
    unit: str
    values: Mapping[str, Any]


def fits(source: Source) -> bool:
    """Return whether a file is of this kind."""
    if source.data is not None:
        return any(_of_json(as_mapping(source.data)))
    return HEADS.match(source.first_line()) is not None


def read(source: Source) -> list[Found]:
    """Return the run in a file. A run that was cancelled is INVALID."""
    if source.data is None:
        aiperf = ",p99,p95" not in source.first_line()
        return [_found(aiperf, "", _of_csv(source.text), {})]
    data = as_mapping(source.data)
    schema = str(data.get("schema_version", SCHEMA))
    if schema.partition(".")[0] != str(SCHEMA):
        raise NotImported(f"{source.path}: its schema version is {schema}, and {SCHEMA} is the one that is known")
    aiperf = bool({"schema_version", "aiperf_version", "was_cancelled", "records"} & set(data))
    return [_found(aiperf, str(data.get("aiperf_version") or ""), _of_json(data), data)]


def _found(aiperf: bool, version: str, metrics: Iterator[Metric], data: Mapping[str, Any]) -> Found:
    figures, where = Figures("aiperf" if aiperf else "genai_perf"), _load(as_mapping(data.get("input_config")))
    valid = not data.get("was_cancelled")
    for one in metrics:
        if NOT_SPEED.search(one.name):
            continue
        times, rate = NS.get(one.unit), RATE.fullmatch(one.unit)
        for key, word in STATISTICS.items():
            if times is not None:
                figures.add(f"{one.name}.{word}_ns", one.values.get(key), "ns", "lower", where,
                            times=times, n=one.values.get("count"), valid=valid)  # fmt: skip
            elif rate is not None and key == "avg":
                figures.add(f"{one.name}_per_s", one.values.get(key), f"{rate[1] or one.name.partition('_')[0]}/s",
                            "higher", where, valid=valid)  # fmt: skip
    when = as_seconds(data.get("start_time"))
    tool = "AIPerf" if aiperf else "GenAI-Perf"
    return Found(f"{tool} {version}".strip(), tool, figures.all(), when, target=_model(as_mapping(data.get("input_config"))))


def _of_json(data: Mapping[str, Any]) -> Iterator[Metric]:
    """Yield the metrics of a JSON export: beside the other fields, or in `records` under names that were shorter then."""
    inside = as_mapping(data.get("records")) or data
    for key, block in inside.items():
        values = as_mapping(block)
        if isinstance(values.get("unit"), str) and as_number(values.get("avg")) is not None:
            yield Metric(_words(str(values.get("header") or key)), values["unit"], values)


def _of_csv(text: str) -> Iterator[Metric]:
    """Yield the metrics of a CSV export: one table of statistics, and one of single values."""
    heads: list[str] = []
    for row in csv.reader(io.StringIO(text)):
        if row[:1] == ["Metric"]:
            heads = ["avg" if head == "Value" else head for head in row[1:]]
        elif row and row[0].endswith(")"):
            name, _, unit = row[0][:-1].rpartition(" (")
            yield Metric(_words(name), unit, dict(zip(heads, row[1:], strict=False)))


def _words(name: str) -> str:
    """Return `Time To First Token` as `time_to_first_token`."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "none"


def _load(config: Mapping[str, Any]) -> dict[str, object]:
    """Return the load, as far as the configuration says it where it is known to."""
    places = (as_mapping(config.get("loadgen")), as_mapping(as_mapping(config.get("perf_analyzer")).get("stimulus")))
    for place in places:
        for key, word in (("concurrency", "concurrency"), ("request_rate", "rate")):
            if (value := as_number(place.get(key))) is not None:
                return {word: value}
    return {}


def _model(config: Mapping[str, Any]) -> str:
    names = as_list(as_mapping(config.get("endpoint")).get("model_names")) or as_list(config.get("model_names"))
    return str(names[0]) if names else ""
