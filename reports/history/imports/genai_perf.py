"""GenAI-Perf and AIPerf: `profile_export_genai_perf` and `profile_export_aiperf`, as JSON or CSV.

As GenAI-Perf 0.0.16 and AIPerf 0.13.0 (schema version 1.4) write them, and as AIPerf describes them up to version 1.5
(https://docs.nvidia.com/aiperf/reference/json-export-schema). Times and throughputs become figures; counts, lengths and
timestamps describe the load. AIPerf's configuration has had two forms: by option, and by phase.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
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
    """Return the run in a file. A run that was cut short, or in which no request was answered, is INVALID."""
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
    config, measured = as_mapping(data.get("input_config")), list(metrics)
    figures, where = Figures("aiperf" if aiperf else "genai_perf"), _load(config)
    unanswered = any(one.name == "request_count" and as_number(one.values.get("avg")) == 0 for one in measured)
    valid = not (data.get("was_cancelled") or data.get("is_complete") is False or unanswered)
    for one in measured:
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
    tool = "AIPerf" if aiperf else "GenAI-Perf"
    return Found(f"{tool} {version}".strip(), tool, figures.all(), _when(data.get("start_time")), target=_model(config))


def _of_json(data: Mapping[str, Any]) -> Iterator[Metric]:
    """Yield the metrics of a JSON export: next to the other fields, or in `records` under the shorter names of that time."""
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


def _when(time: object) -> int | None:
    """Return the seconds of a time. AIPerf writes that of its host's clock, without a zone."""
    with suppress(ValueError, OverflowError, OSError):
        return round(datetime.fromisoformat(re.sub(r"[zZ]$", "+00:00", str(time or ""))).timestamp())
    return None


def _words(name: str) -> str:
    """Return `Time To First Token` as `time_to_first_token`."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "none"


def _load(config: Mapping[str, Any]) -> dict[str, object]:
    """Return the load, as far as the configuration says it where it is known to. Several phases are not one load."""
    phases = [one for one in map(as_mapping, as_list(config.get("phases"))) if not one.get("exclude_from_results")]
    places = (
        as_mapping(config.get("loadgen")),
        as_mapping(as_mapping(config.get("perf_analyzer")).get("stimulus")),
        *(phases if len(phases) == 1 else ()),
    )
    for place in places:
        for key, word in (("concurrency", "concurrency"), ("request_rate", "rate"), ("rate", "rate")):
            if (value := as_number(place.get(key))) is not None:
                return {word: value}
    return {}


def _model(config: Mapping[str, Any]) -> str:
    items = as_list(as_mapping(config.get("models")).get("items"))
    names = as_list(as_mapping(config.get("endpoint")).get("model_names")) or as_list(config.get("model_names"))
    names = names or [as_mapping(one).get("name", "") for one in items]
    return str(names[0]) if names else ""
