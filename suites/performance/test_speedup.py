"""Speed: batched against naive, side by side in one run."""

import itertools

import pytest

from batchproof.fixtures.script import MS
from batchproof.fixtures.target import Request
from batchproof.fixtures.trial import Trial, closed_loop
from batchproof.reference_batcher import BatcherConfig

CONFIG = BatcherConfig(max_batch_size=8)
PAIRS = 6
LEAST_NS = 50 * MS  # a slice of a very fast target would be all noise
BASE_NS, ROW_NS = 4 * MS, MS // 4  # a batch of b rows takes 4 ms + 0.25 ms * b


@pytest.fixture
def trial(judging):
    """Interleave one client and 2 x max_batch_size clients on the same model, six times."""

    def run() -> Trial:
        deployment, serials = judging.deployment(CONFIG), itertools.count(1)
        clock, wait_ns = judging.clock(deployment), judging.patience.wait_ns

        def submit(_number: int):
            return deployment.submit(Request("load", next(serials), work_ns=BASE_NS, row_work_ns=ROW_NS))

        closed_loop(submit, clock, clients=16, requests=32, wait_ns=wait_ns)  # warm-up
        pairs = [
            (closed_loop(submit, clock, 1, 30, wait_ns, LEAST_NS), closed_loop(submit, clock, 16, 160, wait_ns, LEAST_NS))
            for _ in range(PAIRS)
        ]
        naive, batched = zip(*pairs, strict=True)
        judging.measures = {"naive_qps": _median(naive), "batched_qps": _median(batched)}
        return Trial(naive, batched, "the witness at 4 ms + 0.25 ms a row")

    return run


def _median(slices) -> float:
    return round(sorted(one.qps for one in slices)[len(slices) // 2], 1)


@pytest.mark.rule("PERF-SANITY-001")
def test_naive_is_sane(trial, judge):
    """One request at a time gives a positive rate, a median below 10 s and p99 at or above the median"""
    judge(trial())


@pytest.mark.rule("PERF-SPEEDUP-001")
def test_batching_pays(trial, judge):
    """Batched throughput is at least 1.05 times the throughput of one request at a time"""
    judge(trial())
