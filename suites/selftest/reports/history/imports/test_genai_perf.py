"""Files of GenAI-Perf and AIPerf under test. They follow the documentation and examples that the reader names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from batchproof.reports.history.imports.source import NotImported
from batchproof.suites.selftest.reports.history.imports.reading import read_json, read_text, values

LATENCY = {"unit": "ms", "avg": 9059.5, "min": 7936.9, "max": 9299.7, "p50": 9097.25,
           "p99": 9297.5, "std": 220.2, "count": 89}
METRICS: dict[str, Any] = {
    "request_latency": LATENCY,
    "time_to_first_token": {"unit": "ms", "avg": 20.5, "p99": 40.0},
    "request_throughput": {"unit": "requests/sec", "avg": 9.5},
    "output_token_throughput_per_user": {"unit": "tokens/sec/user", "avg": 36.5, "p99": 45.0},
    "request_count": {"unit": "requests", "avg": 89.0},
    "output_sequence_length": {"unit": "tokens", "avg": 242.5},
    "benchmark_duration": {"unit": "sec", "avg": 9.3},
    "min_request_timestamp": {"unit": "ns", "avg": 1.759522419154569e18},
}
CONFIG = {"endpoint": {"model_names": ["openai/gpt-oss-20b"]}, "loadgen": {"concurrency": 100}}
AIPERF = {"schema_version": "1.5", "aiperf_version": "0.13.0", **METRICS, "input_config": CONFIG, "was_cancelled": False,
          "start_time": "2025-10-03T13:13:39.146443", "telemetry_data": {"endpoints": {}}}
AIPERF_CSV = """\
Metric,avg,min,max,p1,p5,p25,p50,p75,p90,p95,p99,std
Input Sequence Length (tokens),550.00,550.00,550.00,550.00,550.00,550.00,550.00,550.00,550.00,550.00,550.00,0.00
Request Latency (ms),9059.50,7936.97,9299.77,8180.93,8840.61,8962.91,9097.25,9212.62,9277.60,9288.61,9297.50,220.22

Metric,Value
Benchmark Duration (sec),9.32
Minimum Request Timestamp (ns),1759522419154568960.00
Request Throughput (requests/sec),9.50
"""
GENAI_PERF_CSV = """\
Metric,avg,min,max,p99,p95,p90,p75,p50,p25
Time To First Token (ms),"1,146.25",249.48,"3,485.23","3,457.75","3,349.56","3,215.06","1,330.93",640.07,286.52
Output Sequence Length (tokens),174.45,164.00,187.00,186.22,183.10,180.10,177.00,174.00,171.75

Metric,Value
Output Token Throughput (per sec),261.25
Request Throughput (per sec),1.50
Request Count (count),40.00
"""


def test_an_export_of_aiperf_is_a_run(tmp_path: Path) -> None:
    """Its model, its time, its load as a condition; times in nanoseconds; what only describes the load is left out."""
    found = read_json(tmp_path, AIPERF)

    assert (found.origin, found.form, found.target) == ("AIPerf 0.13.0", "AIPerf", "openai/gpt-oss-20b")
    assert found.when == 1759497219
    assert values(found) == {
        "aiperf.request_latency.mean_ns[concurrency=100]": 9059.5e6,
        "aiperf.request_latency.p50_ns[concurrency=100]": 9097.25e6,
        "aiperf.request_latency.p99_ns[concurrency=100]": 9297.5e6,
        "aiperf.time_to_first_token.mean_ns[concurrency=100]": 20.5e6,
        "aiperf.time_to_first_token.p99_ns[concurrency=100]": 40e6,
        "aiperf.request_throughput_per_s[concurrency=100]": 9.5,
        "aiperf.output_token_throughput_per_user_per_s[concurrency=100]": 36.5,
    }
    assert [figure.n for figure in found.figures[:3]] == [89] * 3


def test_early_exports_keep_their_metrics_apart(tmp_path: Path) -> None:
    """In `records`, under short names, with the long one beside it."""
    records = {"ttft": {"tag": "ttft", "header": "Time to First Token", "unit": "ms", "avg": 20.5, "p50": None}}
    found = read_json(tmp_path, {"records": records, "input_config": CONFIG, "was_cancelled": True})

    assert values(found) == {"aiperf.time_to_first_token.mean_ns[concurrency=100]": 20.5e6}
    assert [figure.valid for figure in found.figures] == [False]


def test_an_export_of_genai_perf(tmp_path: Path) -> None:
    """It has no version and no time."""
    config = {"model_names": ["m"], "perf_analyzer": {"stimulus": {"request_rate": 2.5}}}
    found = read_json(tmp_path, {"request_latency": LATENCY, "input_config": config})

    assert (found.origin, found.target, found.when) == ("GenAI-Perf", "m", None)
    assert values(found)["genai_perf.request_latency.p99_ns[rate=2.5]"] == 9297.5e6


def test_tables_of_both(tmp_path: Path) -> None:
    """They have the same names as the JSON, and not the load."""
    ours, theirs = read_text(tmp_path, AIPERF_CSV), read_text(tmp_path, GENAI_PERF_CSV)

    assert (ours.origin, theirs.origin) == ("AIPerf", "GenAI-Perf")
    assert values(ours)["aiperf.request_latency.p99_ns"] == 9297.5e6
    assert values(ours)["aiperf.request_throughput_per_s"] == 9.5
    assert values(theirs)["genai_perf.time_to_first_token.p99_ns"] == 3457.75e6
    assert values(theirs)["genai_perf.output_token_throughput_per_s"] == 261.25
    assert not [one for one in (*values(ours), *values(theirs)) if "length" in one or "count" in one or "stamp" in one]


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    """Another major version may mean anything."""
    with pytest.raises(NotImported, match=r"its schema version is 2\.0, and 1 is the one that is known"):
        read_json(tmp_path, {**AIPERF, "schema_version": "2.0"})
