"""Files of GenAI-Perf and AIPerf under test: what 0.0.16 and 0.13.0 wrote, and what the documentation says of older ones.

Of what they wrote, some metrics are kept. The server was that of `targets/engines/openai_server.py`.
"""

from __future__ import annotations

import json
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from batchproof.reports.history.imports.source import NotImported
from batchproof.suites.selftest.reports.history.imports.reading import HERE, read, read_json, read_text, values

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
THROUGHPUT = 11.748419901331875
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


def test_what_aiperf_wrote() -> None:
    """Its load is that of the phase that counts, and the warm-up has another; its model is in a list."""
    found = read(HERE / "aiperf.json")

    assert (found.origin, found.target) == ("AIPerf 0.13.0", "served")
    assert values(found)["aiperf.request_throughput_per_s[rate=30]"] == pytest.approx(THROUGHPUT)
    assert {one.id.partition("[")[2] for one in found.figures} == {"rate=30]"}
    assert all(one.valid for one in found.figures)


def test_what_genai_perf_wrote() -> None:
    """Its load is a concurrency."""
    found = read(HERE / "genai_perf.json")

    assert (found.origin, found.target) == ("GenAI-Perf", "served")
    assert values(found)["genai_perf.request_latency.p99_ns[concurrency=4]"] == pytest.approx(50_030_509.36)
    assert values(found)["genai_perf.request_throughput_per_s[concurrency=4]"] == pytest.approx(87.5642289)


def test_several_phases_are_not_one_load(tmp_path: Path) -> None:
    """A figure over two loads belongs to neither."""
    data = json.loads((HERE / "aiperf.json").read_text())
    data["input_config"]["phases"][0]["exclude_from_results"] = False

    assert {one.id.partition("[")[2] for one in read_json(tmp_path, data).figures} == {""}


@pytest.mark.parametrize("change", [{"is_complete": False}, {"request_count": {"unit": "requests", "avg": 0.0}}])
def test_a_run_that_proves_nothing_is_invalid(tmp_path: Path, change: dict[str, Any]) -> None:
    """One that ended early, and one without an answer: its throughput of 0 is not a slow-down."""
    data = json.loads((HERE / "aiperf.json").read_text()) | change

    assert not any(one.valid for one in read_json(tmp_path, data).figures)


def test_a_time_without_a_zone_is_that_of_the_clock_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """AIPerf writes what its host's clock said."""
    monkeypatch.setenv("TZ", "Etc/GMT-2")
    time.tzset()
    try:
        assert read_json(tmp_path, AIPERF).when == 1759497219 - 7200
    finally:
        monkeypatch.undo()
        time.tzset()


def test_records_are_told_from_a_summary(tmp_path: Path) -> None:
    """AIPerf's `profile_export.jsonl` is whole, and no reader knows it."""
    with pytest.raises(NotImported, match="it is a file of JSON Lines, and no reader knows such records"):
        read_text(tmp_path, '{"metadata": {}}\n{"metadata": {}}\n')


def test_an_export_of_aiperf_is_a_run(tmp_path: Path) -> None:
    """Its model, its time, its load as a condition; times in nanoseconds; what only describes the load is left out."""
    found = read_json(tmp_path, AIPERF)

    assert (found.origin, found.form, found.target) == ("AIPerf 0.13.0", "AIPerf", "openai/gpt-oss-20b")
    assert found.when == datetime(2025, 10, 3, 13, 13, 39).astimezone().timestamp()
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
    """In `records`, under short names, with the long one alongside it."""
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
