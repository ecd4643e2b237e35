"""Speed: batched against naive, side by side in one run."""

import statistics

import pytest

from batchproof.suites.performance.rounds import CONFIG, rounds


@pytest.fixture
def trial(session, loads):
    """One client and 2 x max_batch_size clients on the same model, in turn."""

    def run():
        found = loads.shared("rounds", lambda: rounds(loads))
        rates = {name: [one.qps for one in found.named(name)] for name in ("naive", "batched")}
        session.measures = {f"{name}_qps": round(statistics.median(qps), 1) for name, qps in rates.items() if qps}
        return found

    return run


@pytest.mark.rule("PERF-SANITY-001")
@pytest.mark.models(CONFIG)
def test_naive_is_sane(trial, judge):
    """One request at a time gives a positive rate, a median below 10 s and p99 at or above the median"""
    judge(trial())


@pytest.mark.rule("PERF-SPEEDUP-001")
@pytest.mark.models(CONFIG)
def test_batching_pays(trial, judge):
    """Batched throughput is at least 1.05 times the throughput of one request at a time"""
    judge(trial())
