"""Summaries of MLPerf LoadGen under test: as mlcommons-loadgen 6.0.17 wrote them, with fewer of its lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from batchproof.reports.history.imports.source import NotImported
from batchproof.suites.selftest.reports.history.imports.reading import read_text, values

TITLE = """\
================================================
MLPerf Results Summary
================================================
SUT name : PySUT
"""
STATS = """\

================================================
Additional Stats
================================================
Scheduled samples per second : 101.50
Min latency (ns)                : 2252780
Mean latency (ns)               : 14786750
50.00 percentile latency (ns)   : 4193131
99.00 percentile latency (ns)   : 71332092
99.90 percentile latency (ns)   : 71332092

================================================
Test Parameters Used
================================================
target_qps : 100
"""
SERVER = f"""{TITLE}Scenario : Server
Mode     : PerformanceOnly
Completed samples per second    : 101.03
Result is : VALID
{STATS}"""
SINGLE = f"""{TITLE}Scenario : SingleStream
Mode     : PerformanceOnly
90.0th percentile latency (ns) : 3091418
Result is : VALID
{STATS.replace("Scheduled samples per second", "QPS w/o loadgen overhead")}"""


def test_a_server_run_has_figures_at_its_load(tmp_path: Path) -> None:
    """The throughput is what was completed, and not what was scheduled."""
    found = read_text(tmp_path, SERVER)

    assert (found.target, found.form) == ("PySUT", "MLPerf LoadGen")
    assert values(found) == {
        "loadgen.samples_per_s[scenario=Server,target_qps=100]": 101.03,
        "loadgen.mean_ns[scenario=Server,target_qps=100]": 14786750,
        "loadgen.p50_ns[scenario=Server,target_qps=100]": 4193131,
        "loadgen.p99_ns[scenario=Server,target_qps=100]": 71332092,
        "loadgen.p99_9_ns[scenario=Server,target_qps=100]": 71332092,
    }
    assert all(figure.valid for figure in found.figures)


def test_other_scenarios_have_no_load(tmp_path: Path) -> None:
    """One client sends as fast as it can."""
    assert values(read_text(tmp_path, SINGLE))["loadgen.samples_per_s[scenario=SingleStream]"] == 101.5


def test_what_loadgen_calls_invalid_is_invalid(tmp_path: Path) -> None:
    """It is kept to be seen, and never compared."""
    found = read_text(tmp_path, SERVER.replace("VALID", "INVALID"))

    assert {figure.valid for figure in found.figures} == {False}


@pytest.mark.parametrize(("text", "words"), [
    (SERVER.partition("Result is")[0], "it ends before LoadGen's verdict"),
    (SERVER.replace("PerformanceOnly", "AccuracyOnly"), "its mode is AccuracyOnly, and only PerformanceOnly measures"),
])
def test_what_is_no_measurement_is_refused(tmp_path: Path, text: str, words: str) -> None:
    """A summary that ends early, and a run that was about accuracy."""
    with pytest.raises(NotImported, match=words):
        read_text(tmp_path, text)
