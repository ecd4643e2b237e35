"""What the threaded batcher keeps, and how it answers."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from typing import Any

import numpy as np
import pytest

from batchproof.bench.peers.device import Device
from batchproof.host.clock import HostClock
from batchproof.reference_batcher import Batcher, BatcherConfig
from batchproof.reference_batcher.threaded import ANSWER_NS

LONG = 30


def test_an_answered_request_keeps_nothing_alive() -> None:
    """Inputs are freed when the caller drops them and the answer, without the garbage collector."""
    gc.collect()
    gc.disable()
    try:
        with Batcher(lambda rows: rows + 1) as batcher:
            inputs = np.zeros((1, 4))
            kept = weakref.ref(inputs)
            future = batcher.submit(inputs)
            future.result(LONG)
            del inputs, future

            assert HostClock().wait(lambda: kept() is None, time.monotonic_ns() + LONG * 10**9)  # its thread lets go, too
    finally:
        gc.enable()


def test_the_model_goes_on_while_a_callback_blocks() -> None:
    """An instance that has its next batch runs it, whatever the callbacks of the last one are doing."""
    entered, second, release = threading.Event(), threading.Event(), threading.Event()
    pause_ns = 5 * ANSWER_NS

    def model(rows: list[int]) -> list[int]:
        entered.set()
        if rows == [0]:
            plugged.wait(LONG)
        Device(pause_ns)(rows)
        if rows == [1]:
            second.set()
        return rows

    plugged = threading.Event()
    with Batcher(model, BatcherConfig(max_batch_size=1)) as batcher:
        plug = batcher.submit([0])
        plug.add_done_callback(lambda _: release.wait(LONG))
        assert entered.wait(LONG)
        behind = batcher.submit([1])
        plugged.set()
        ran = second.wait(LONG)
        release.set()

        assert behind.result(LONG) == [1]
    assert ran


def test_answers_of_one_instance_do_not_overtake_each_other() -> None:
    """Batches are answered in the order in which they ran, whichever thread answers."""
    order: list[int] = []
    plugged = threading.Event()

    def model(rows: list[int]) -> list[int]:
        plugged.wait(LONG)
        return Device(3 * ANSWER_NS if rows[0] % 3 else 0)(rows)

    with Batcher(model, BatcherConfig(max_batch_size=1)) as batcher:
        futures = [batcher.submit([number]) for number in range(300)]
        for number, future in enumerate(futures):
            future.add_done_callback(lambda _, number=number: order.append(number))
        plugged.set()

    assert order == list(range(300))


def test_threads_are_set_where_the_model_runs() -> None:
    """`threads` is the number of threads that torch has on each instance's thread."""
    torch = pytest.importorskip("torch", reason="the extra `reference` (torch) is not installed")
    seen = set()

    def model(batch: Any) -> Any:
        seen.add((threading.current_thread().name, torch.get_num_threads()))
        return batch

    before = torch.get_num_threads()
    with Batcher(model, threads=1) as batcher:
        batcher.submit(torch.zeros(1, 2)).result(LONG)

    assert seen == {("batcher-instance-0", 1)}
    assert torch.get_num_threads() == before
