"""The cost of the generator itself: `pytest -p benchmark suites/performance/bench_load.py --benchmark-json load.json`.

Collected only when named. Each figure is of the machine it was taken on; none is a rule.
"""

from concurrent.futures import Future

import numpy as np
import pytest

from batchproof.load.answers import Answers
from batchproof.load.punctuality import answers_at_once
from batchproof.load.runs import closed_loop, open_loop
from batchproof.load.samples import Samples
from batchproof.load.schedule import poisson
from batchproof.reference_batcher.virtual import VirtualClock
from batchproof.stats.gates import latency_within
from batchproof.stats.percentile import interval, percentile

COUNT = 10_000


@pytest.fixture(scope="module")
def latencies_ns():
    return (np.random.default_rng(7).standard_exponential(1_000_000) * 5e6).astype(np.int64)


def per_request(benchmark, count=COUNT):
    benchmark.extra_info["ns_per_request"] = round(benchmark.stats.stats.median / count * 1e9)


def test_issue_in_simulated_time(benchmark):
    """A scheduled request that is sent, answered at once and recorded: everything but sleeping."""
    schedule = poisson(COUNT, 1, 7, exact=True)
    run = benchmark(lambda: open_loop(answers_at_once, VirtualClock(), schedule, wait_ns=1))
    assert run.samples.answered.all()
    per_request(benchmark)


def test_closed_loop_in_simulated_time(benchmark):
    """A client that is answered at once and sends again."""
    run = benchmark(lambda: closed_loop(answers_at_once, VirtualClock(), 16, wait_ns=1, requests=COUNT))
    assert run.samples.answered.all()
    per_request(benchmark)


def test_record(benchmark):
    """An answer that is recorded."""
    future = Future()
    future.set_result(None)

    def record():
        noted = Answers(lambda: 1, 0, COUNT)
        for number in range(COUNT):
            noted.settle(number, future)
        return noted

    assert benchmark(record).settled()
    per_request(benchmark)


def test_schedule(benchmark):
    """A Poisson schedule, for each request."""
    assert benchmark(lambda: poisson(100_000, 10, 7, exact=True)).count == 1_000_000
    per_request(benchmark, 1_000_000)


def test_percentile(benchmark, latencies_ns):
    """The p99 of a million latencies."""
    assert benchmark(lambda: percentile(latencies_ns, 99)) > 0


def test_interval(benchmark, latencies_ns):
    """The 99 % interval of the p99 of a million latencies."""
    low, high = benchmark(lambda: interval(latencies_ns, 99))
    assert low < high


def test_latency_within(benchmark, latencies_ns):
    """The verdict on a million latencies, with autocorrelation."""
    assert benchmark(lambda: latency_within(latencies_ns, 30_000_000)).verdict == "PASS"


def test_save_and_load(benchmark, tmp_path, latencies_ns):
    """The raw samples of 100,000 requests, written to a file and read back."""
    due = np.cumsum(latencies_ns[:100_000])
    columns = {"scheduled_ns": due, "sent_ns": due, "done_ns": due + latencies_ns[-100_000:]}
    kept = Samples(**columns, outcome=np.zeros(100_000, np.uint8), client=np.zeros(100_000, np.int32))

    def around():
        kept.save(tmp_path / "a.npz")
        return Samples.load(tmp_path / "a.npz")

    assert (benchmark(around).done_ns == kept.done_ns).all()
    per_request(benchmark, 100_000)
