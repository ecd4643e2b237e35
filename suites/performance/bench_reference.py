"""Micro-benchmarks of the reference batcher with pytest-benchmark. They run only when they are named.

    pytest -p benchmark --pyargs batchproof.suites.performance.bench_reference --benchmark-json=out.json

They time single steps on a quiet machine. What a batcher is under load is `batchproof bench`'s affair: a stopwatch around a
callable knows nothing of queues.
"""

import numpy as np
import pytest

from batchproof.reference_batcher import Batcher, BatcherConfig
from batchproof.reference_batcher.core import DynamicBatcher
from batchproof.reference_batcher.decisions import Dispatch, Entry
from batchproof.reference_batcher.execution import concatenate, split
from batchproof.reference_batcher.service import Service

pytest.importorskip("pytest_benchmark", reason="pip install pytest-benchmark")
PAYLOAD = np.zeros((1, 8), np.int64)
SIZES = pytest.mark.parametrize("size", [1, 8, 64])
HOUR_NS = 3600 * 10**9


def test_submit_to_answer(benchmark):
    """One request at a time through the threads: submit, wait, answer; a model that does nothing."""
    with Batcher(lambda batch: batch, BatcherConfig(max_batch_size=8)) as batcher:
        benchmark(lambda: batcher.submit(PAYLOAD).result())


@SIZES
def test_service_of_a_batch(benchmark, size):
    """A whole batch without threads: requests made, queued, dispatched, executed and answered."""
    service = Service(BatcherConfig(max_batch_size=size))

    def serve():
        for _ in range(size):
            service.take(service.entry(PAYLOAD, 0, 0, 0))
        dispatch = service.core.poll(1)
        service.execute(lambda batch: batch, service.begin(dispatch))()
        service.core.finished(dispatch.instance)

    benchmark(serve)


@SIZES
def test_core_of_a_batch(benchmark, size):
    """The decisions alone, under a queue delay: each arrival asks what to do now, and the last one gets the batch."""
    core = DynamicBatcher(BatcherConfig(max_batch_size=size, max_queue_delay_ns=HOUR_NS))

    def decide():
        for _ in range(size):
            core.enqueue(Entry(1, 0, None))
            decision = core.poll(1)
        assert isinstance(decision, Dispatch)
        core.finished(decision.instance)

    benchmark(decide)


def test_core_while_busy(benchmark):
    """What an arrival costs while no instance is free: it is queued, and nothing else is examined."""
    core = DynamicBatcher(BatcherConfig(max_batch_size=64))
    core.free.clear()
    entry = Entry(1, 0, None)

    def arrive():
        core.enqueue(entry)
        core.poll(1)
        core.cancel(entry)

    benchmark(arrive)


@SIZES
@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_rows_joined_and_cut(benchmark, size, kind):
    """A batch of one-row tensors is joined, and its outputs are split again."""
    if kind == "torch":
        torch = pytest.importorskip("torch", reason="the extra `reference` (torch) is not installed")
        rows = [torch.zeros(1, 256) for _ in range(size)]
    else:
        rows = [np.zeros((1, 256), np.float32) for _ in range(size)]

    benchmark(lambda: split(concatenate(rows), [1] * size))
