"""MLPerf LoadGen and our load generator: its log is read correctly, its runs end, and the two are compared."""

from __future__ import annotations

import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from batchproof.load.second_opinion import loadgen
from batchproof.load.second_opinion.opinion import ToolFailed, ToolMissing
from batchproof.suites.selftest.samples import recorded
from batchproof.targets.protocol import Kind, Refused

MS = 1_000_000


def mllog(key: str, value: str, error: str = "false") -> str:
    """Return a line of LoadGen's detail log."""
    return (f':::MLLOG {{"key": "{key}", "value": {value}, "time_ms": 2002.159408, "namespace": "mlperf::logging", '
            f'"event_type": "POINT_IN_TIME", "metadata": {{"is_error": {error}, "is_warning": false, "file": "results.cc", '
            '"line_no": 1, "pid": 1, "tid": 1}}\n')


# What LoadGen 6.0.17 wrote, shortened.
DETAIL = "".join(
    mllog(key, value) for key, value in (
        ("effective_scenario", '"Server"'), ("result_validity", '"VALID"'), ("result_min_duration_met", "true"),
        ("result_min_queries_met", "true"), ("early_stopping_met", "true"), ("result_completed_samples_per_sec", "990.43"),
        ("result_50.00_percentile_latency_ns", "127466"), ("result_99.00_percentile_latency_ns", "771425"),
        ("result_99.90_percentile_latency_ns", "2511270"),
    )
)
ENDED = "Ending early: Ran out of generated queries to issue"
EARLY = mllog("error_runtime", f'"{ENDED}"', "true")


def test_the_log_of_loadgen_is_read() -> None:
    """Percentiles are in ns and from the schedule. These samples have no due times, so LoadGen's percentiles are used."""
    raw = recorded([0, 5], [0, 5], [50, 90])
    opinion = loadgen.opinion(loadgen.parse_detail(DETAIL), "poisson:rate=1000", raw, release="6.0")

    assert (opinion.throughput, opinion.kind, opinion.clock, opinion.valid) == (990.43, "open", "schedule", True)
    assert opinion.latency_ns() == {"p50": 127_466, "p90": None, "p99": 771_425, "p99_9": 2_511_270}
    assert opinion.service_ns()["p50"] == 50


def test_an_invalid_run_of_loadgen_has_reasons() -> None:
    """A run that LoadGen calls invalid, and its own errors, are reasons. A log without a result is a failure."""
    raw = recorded([0], [0], [1])
    broken = DETAIL.replace('"VALID"', '"INVALID"').replace('met", "value": true', 'met", "value": false')
    said = loadgen.parse_detail(broken)
    assert loadgen.opinion(said, "", raw, release="").reasons == (
        "LoadGen: it was shorter than was asked for", "LoadGen: it had too few queries",
    )
    assert loadgen.opinion(loadgen.parse_detail(DETAIL + EARLY), "", raw, release="").reasons == (f"LoadGen: {ENDED}",)
    with pytest.raises(ToolFailed, match="Ending early"):
        loadgen.opinion(loadgen.parse_detail(EARLY), "", raw, release="")


def has_loadgen() -> None:
    """Skip the test if LoadGen is not installed."""
    pytest.importorskip("mlperf_loadgen", reason="LoadGen is not installed: pip install 'batchproof[opinions]'")


def test_loadgen_measures_a_server() -> None:
    """In the Server scenario it sends what its log says, and no answer is faster than the work."""
    has_loadgen()
    with ThreadPoolExecutor(4) as pool:
        opinion = loadgen.server(lambda _number: pool.submit(time.sleep, 0.002), 200, seconds=0.5, seed=3, slo_ns=10**9)

    assert opinion.samples is not None
    assert opinion.requests == opinion.samples.count > 50
    assert opinion.samples.answered.all()
    assert opinion.samples.service_ns.min() >= 2 * MS
    assert opinion.said_ns["p50"] >= 2 * MS
    assert opinion.kind == "open"


def test_other_scenarios_of_loadgen_send_as_they_should() -> None:
    """SingleStream never has two requests at once; Offline sends all at once."""
    has_loadgen()
    with ThreadPoolExecutor(1) as pool:
        one = loadgen.single_stream(lambda _number: pool.submit(time.sleep, 0.001), seconds=0.2, expected_ns=MS)
        whole = loadgen.offline(lambda _number: pool.submit(time.sleep, 0.001), 200, seconds=0.2)

    assert one.samples is not None
    assert (one.samples.sent_ns[1:] >= one.samples.done_ns[:-1]).all()
    assert 0 < one.throughput < 1000
    assert whole.requests == 44
    assert 0 < whole.throughput < 1000


@pytest.mark.parametrize("how", ["refused", "raises", "never"])
def test_a_failed_request_makes_loadgens_run_invalid(how: str) -> None:
    """A request that is refused, or never answered, makes the run invalid, and the run ends."""
    has_loadgen()

    def submit(number: int) -> Future[Any]:
        future: Future[Any] = Future()
        if number % 4 or how == "never":
            if how != "never":
                future.set_result(None)
        elif how == "refused":
            future.set_exception(Refused(Kind.FULL, "full"))
        else:
            raise Refused(Kind.FULL, "full")
        return future

    opinion = loadgen.server(submit, 200, seconds=0.2, slo_ns=10**9, wait_s=0.2)

    assert opinion.samples is not None
    assert ("were not answered in time" if how == "never" else "LoadGen counts them as answers") in opinion.reasons[-1]
    assert set(opinion.samples.outcomes()) == ({"unanswered"} if how == "never" else {"answered", "full"})


def test_a_missing_loadgen_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says which extra to install."""
    monkeypatch.setitem(sys.modules, "mlperf_loadgen", None)
    with pytest.raises(ToolMissing, match=r"batchproof\[opinions\]"):
        loadgen.module()


def test_a_process_runs_one_loadgen_at_a_time() -> None:
    """LoadGen is global in a process: a second run waits for the first."""
    has_loadgen()
    spans: list[tuple[int, int]] = []

    def run() -> None:
        begun: list[int] = []

        def submit(_number: int) -> Future[Any]:
            begun.append(time.monotonic_ns())
            future: Future[Any] = Future()
            future.set_result(None)
            return future

        loadgen.server(submit, 100, seconds=0.1, slo_ns=10**9)
        spans.append((begun[0], begun[-1]))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    (_, first_end), (second_start, _) = sorted(spans)
    assert second_start > first_end
