"""Files of perf_analyzer under test: what 2.51.0 wrote of an embedded Triton; of its records, six a load are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from batchproof.reports.history.imports.source import NotImported
from batchproof.suites.selftest.reports.history.imports.reading import HERE, read, read_json, read_text, stored, values

FILE = "perf_analyzer.json"
CONCURRENCY = """\
Concurrency,Inferences/Second,Client Send,Network+Server Send/Recv,Server Queue,Server Compute Input,Server Compute Infer,\
Server Compute Output,Client Recv,p50 latency,p90 latency,p95 latency,p99 latency,Avg latency,request/response,response wait
1,27.5939,390,7886,288,60,25501,418,284,25508,53899,75857,123477,34831,674,34110
5,79.3735,17,15411,20062,82,25211,620,3,49465,83474,141373,246773,61409,20,61380
"""
RATE = """\
Request Rate,Inferences/Second,Client Send,Network+Server Send/Recv,Server Queue,Server Compute Input,Server Compute Infer,\
Server Compute Output,Client Recv,p50 latency,p90 latency,p95 latency,p99 latency
50,40.3842,101,13397,8040,51,23902,362,18,38865,81105,115624,116852
"""


def test_a_report_has_figures_for_each_load(tmp_path: Path) -> None:
    """Microseconds become nanoseconds; the load is a condition."""
    found = values(read_text(tmp_path, CONCURRENCY))

    assert found["perf_analyzer.inferences_per_s[concurrency=5]"] == 79.3735
    assert found["perf_analyzer.p99_ns[concurrency=1]"] == 123477e3
    assert found["perf_analyzer.queue_ns[concurrency=5]"] == 20062e3
    assert len(found) == 16


def test_a_rate_is_another_condition(tmp_path: Path) -> None:
    """A report has the mean only with --verbose-csv."""
    found = values(read_text(tmp_path, RATE))

    assert (found["perf_analyzer.p50_ns[rate=50]"], "perf_analyzer.mean_ns[rate=50]" in found) == (38865e3, False)


def test_records_have_the_same_figures() -> None:
    """Throughput over the windows, and percentiles by the tool's own convention; when: the last answer."""
    found = read(HERE / FILE)

    assert (found.origin, found.when) == ("perf_analyzer 2.51.0", 1795427505)
    assert values(found)["perf_analyzer.inferences_per_s[concurrency=1]"] == pytest.approx(6 / 0.321698416)
    assert values(found)["perf_analyzer.p50_ns[concurrency=1]"] == 53899589
    assert {figure.n for figure in found.figures} == {6}


def test_only_what_ends_within_the_windows_counts(tmp_path: Path) -> None:
    """And a request that was never answered does not."""
    data = stored(FILE)
    first = data["experiments"][0]
    first["requests"][0]["response_timestamps"] = []
    first["window_boundaries"][1] = first["requests"][4]["response_timestamps"][0]

    found = read_json(tmp_path, {**data, "experiments": [first]})

    assert {figure.n for figure in found.figures} == {4}


@pytest.mark.parametrize("time", [-1, 2**70, "soon", 1.5])
def test_a_time_that_is_none_is_refused(tmp_path: Path, time: object) -> None:
    """In one message."""
    data = stored(FILE)
    data["experiments"][0]["requests"][0]["timestamp"] = time

    with pytest.raises(NotImported, match="a timestamp is not a number of nanoseconds"):
        read_json(tmp_path, data)
