"""MLPerf LoadGen (`mlcommons-loadgen`) as a second opinion, in this process, on anything with `submit(number) -> Future`.

Server: Poisson arrivals, latency from the scheduled time. SingleStream: one client. Offline: everything at once. There is
one LoadGen in a process, it writes its results as files, and it does not end before every query is answered: hence the lock
and the watchdog. It does not know failures: a refused request is reported to it as answered, and makes the run invalid.
"""

from __future__ import annotations

import json
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from batchproof.host.scratch import scratch
from batchproof.load.samples import OUTCOMES, Samples
from batchproof.load.second_opinion.opinion import Opinion, ToolFailed, ToolMissing
from batchproof.stats.arrays import NEVER
from batchproof.targets.protocol import Kind, Refused

Submit = Callable[[int], Future[Any]]
MARK = ":::MLLOG "
PERCENTILES = {"p50": "50.00", "p90": "90.00", "p95": "95.00", "p99": "99.00", "p99_9": "99.90"}
RATES = ("result_completed_samples_per_sec", "result_qps_without_loadgen_overhead", "result_samples_per_second")
LIMITS = {"result_min_duration_met": "it was shorter than was asked for", "result_min_queries_met": "it had too few queries"}
_one = threading.Lock()


def module() -> Any:
    """Return LoadGen's module; ToolMissing if it is not installed.

    Its name is mlperf_loadgen: importing mlcommons_loadgen first would put an empty module in its place (6.0.17).
    """
    try:
        import mlperf_loadgen
    except ModuleNotFoundError:
        raise ToolMissing("MLPerf LoadGen is not installed: pip install 'batchproof[opinions]'") from None
    return mlperf_loadgen


def server(submit: Submit, rate: float, *, seconds: float, seed: int = 0, slo_ns: int, wait_s: float = 10.0) -> Opinion:
    """Send Poisson arrivals of `rate` per second; slo_ns: the p99 that its own verdict is about.

    wait_s: how long after the end answers may take; those that are missing then make the run invalid.
    """
    given = {"server_target_qps": rate, "server_target_latency_ns": slo_ns, "schedule_rng_seed": seed}
    return _measure("Server", submit, seconds, wait_s, f"poisson:rate={rate:g},seconds={seconds:g},seed={seed}", given)


def single_stream(submit: Submit, *, seconds: float, expected_ns: int, wait_s: float = 10.0) -> Opinion:
    """Send one request after the other; expected_ns: what one takes, by which LoadGen decides how many it prepares."""
    given = {"single_stream_expected_latency_ns": max(1, expected_ns // 2)}  # too few prepared would end it too early
    return _measure("SingleStream", submit, seconds, wait_s, "clients=1", given)


def offline(submit: Submit, rate: float, *, seconds: float, wait_s: float = 10.0) -> Opinion:
    """Send all of 1.1 * rate * seconds requests at once; its throughput is what counts."""
    return _measure(
        "Offline", submit, seconds, wait_s, f"offline:{rate * seconds * 1.1:.0f}", {"offline_expected_qps": rate}
    )


def _measure(
    scenario: str, submit: Submit, seconds: float, wait_s: float, asked: str, settings: Mapping[str, Any]
) -> Opinion:
    lg = module()
    queries = Queries(submit, lg)
    duration_ms = max(1, round(seconds * 1e3))
    test = lg.TestSettings()
    test.scenario, test.mode = getattr(lg.TestScenario, scenario), lg.TestMode.PerformanceOnly
    given = {"min_duration_ms": duration_ms, "max_duration_ms": 2 * duration_ms, "min_query_count": 1, **settings}
    for key, value in given.items():
        setattr(test, key, value)
    with _one, tempfile.TemporaryDirectory(prefix=scratch()) as folder:
        log = lg.LogSettings()
        log.log_output.outdir = folder
        log.log_output.copy_summary_to_stdout = False
        log.enable_trace = False
        sut, library = lg.ConstructSUT(queries.issue, _nothing), lg.ConstructQSL(1, 1, _ignore, _ignore)
        watchdog = threading.Timer(2 * seconds + wait_s, queries.give_up)
        watchdog.daemon = True
        watchdog.start()
        try:
            lg.StartTestWithLogSettings(sut, library, test, log, str(Path(folder) / "no-audit.config"))
        finally:
            watchdog.cancel()
            queries.settled.wait(wait_s)  # the last answer's thread is still telling us of it
            lg.DestroyQSL(library)
            lg.DestroySUT(sut)
        said = parse_detail((Path(folder) / "mlperf_log_detail.txt").read_text(encoding="utf-8", errors="replace"))
    return opinion(said, asked, queries.samples(), queries.faults(), release=version("mlcommons-loadgen"))


class Queries:
    """Between LoadGen and `submit`: each query is sent and, whatever becomes of it, reported to LoadGen once."""

    def __init__(self, submit: Submit, lg: Any) -> None:
        self._submit, self._lg = submit, lg
        self._lock = threading.Lock()
        self._open: dict[int, int] = {}  # number -> LoadGen's id
        self._sent: list[int] = []
        self._done: dict[int, int] = {}
        self._outcome: dict[int, int] = {}
        self._given_up = 0
        self.settled = threading.Event()

    def issue(self, queries: Any) -> None:
        """Send the queries that are due now; runs on LoadGen's own thread."""
        for query in queries:
            with self._lock:
                self.settled.clear()
                number = len(self._sent)
                self._open[number] = query.id
                self._sent.append(time.monotonic_ns())
            try:
                self._submit(number).add_done_callback(partial(self._answered, number))
            except Exception as error:
                self._close(number, OUTCOMES.index(_kind(error)), time.monotonic_ns())

    def _answered(self, number: int, future: Future[Any]) -> None:
        done_ns = time.monotonic_ns()
        error = None if future.cancelled() else future.exception()
        word = Kind.CANCELLED.value if future.cancelled() else _kind(error) if error else "answered"
        self._close(number, OUTCOMES.index(word), done_ns)

    def _close(self, number: int, outcome: int, done_ns: int) -> None:
        with self._lock:
            mine = self._open.pop(number, None)
            if mine is None:
                return  # given up before
            self._outcome[number] = outcome
            if outcome != OUTCOMES.index("unanswered"):
                self._done[number] = done_ns
            if not self._open:
                self.settled.set()
        self._lg.QuerySamplesComplete([self._lg.QuerySampleResponse(mine, 0, 0)])

    def give_up(self) -> None:
        """Tell LoadGen that every open query is answered, because it would wait for ever."""
        with self._lock:
            late = list(self._open)
            self._given_up += len(late)
        for number in late:
            self._close(number, OUTCOMES.index("unanswered"), NEVER)

    def samples(self) -> Samples:
        """Return what was seen from here: scheduled_ns is when LoadGen issued, as it does not say when that was due."""
        sent = np.array(self._sent, dtype=np.int64)
        start_ns = sent[0] if len(sent) else 0
        done = np.array([self._done.get(number, NEVER) for number in range(len(sent))], dtype=np.int64)
        done = np.where(done == NEVER, NEVER, done - start_ns)
        missing = OUTCOMES.index("unanswered")
        outcome = np.array([self._outcome.get(number, missing) for number in range(len(sent))], dtype=np.uint8)
        return Samples(sent - start_ns, sent - start_ns, done, outcome, np.zeros(len(sent), dtype=np.int32))

    def faults(self) -> tuple[str, ...]:
        """Return why its figures are not a result: LoadGen takes a refusal for an answer."""
        failed = sum(outcome != OUTCOMES.index("answered") for outcome in self._outcome.values()) - self._given_up
        words = [f"{failed} requests were refused or failed, and LoadGen counts them as answers"] if failed else []
        if self._given_up:
            words.append(f"{self._given_up} requests were not answered in time")
        return tuple(words)


def parse_detail(text: str) -> dict[str, Any]:
    """Return the last value of each key in LoadGen's mlperf_log_detail.txt (JSON after ':::MLLOG '); `errors` collects."""
    said: dict[str, Any] = {"errors": []}
    for line in text.splitlines():
        if not line.startswith(MARK):
            continue
        entry = json.loads(line[len(MARK) :])
        if entry.get("metadata", {}).get("is_error"):
            said["errors"].append(str(entry["value"]).strip())
        said[entry["key"]] = entry["value"]
    return said


def opinion(said: Mapping[str, Any], asked: str, samples: Samples, faults: tuple[str, ...] = (), *, release: str) -> Opinion:
    """Return LoadGen's figures; ToolFailed if the log has none (the run was cut short)."""
    rate = next((said[key] for key in RATES if key in said), None)
    if rate is None:
        raise ToolFailed(f"LoadGen gave no result: {'; '.join(said['errors']) or 'its log ends early'}")
    keys = {name: f"result_{value}_percentile_latency_ns" for name, value in PERCENTILES.items()}
    said_ns = {name: int(said[key]) for name, key in keys.items() if key in said}
    reasons = [why for key, why in LIMITS.items() if said.get(key) is False]
    scenario = str(said.get("effective_scenario", ""))
    if said.get("result_validity") != "VALID" and not reasons:
        reasons.append("LoadGen calls it INVALID")
    reasons = [*(f"LoadGen: {why}" for why in (*reasons, *said["errors"])), *faults]
    more = {
        key: said[key]
        for key in ("result_validity", "early_stopping_met", "result_scheduled_samples_per_sec")
        if key in said
    }
    kind, clock = ("open", "schedule") if scenario == "Server" else ("closed", "send")
    more["scenario"] = scenario
    count = samples.count
    return Opinion("loadgen", release, kind, asked, clock, float(rate), count, said_ns, tuple(reasons), samples, more=more)


def _kind(error: BaseException) -> str:
    return error.kind.value if isinstance(error, Refused) else Kind.OTHER.value


def _nothing() -> None:
    """LoadGen flushes queries; there is nothing to flush."""


def _ignore(indices: Any) -> None:
    """LoadGen loads samples; there are none to load."""
