"""A batcher whose thread looks at its queue every so often, and ends if it found nothing for seconds.

The next request starts a new thread.

`RetiringBatcher` is right. The class after it is wrong in one way, which its docstring says.
"""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any

from batchproof.suites.selftest.strangers.stranger import Stranger, faulty

Model = Callable[[list[Any]], Sequence[Any]]
Entry = tuple[Any, Future[Any]]
IDLE_S = 3.0  # without a request, and the thread ends


class RetiringBatcher:
    """A request counts as one; a full batch wakes the thread, and so does every request if there is no interval."""

    def __init__(self, models: Sequence[Model], max_batch: int, interval_s: float = 0) -> None:
        (self.model,) = models
        self.max_batch, self.interval_s = max_batch, interval_s
        self.waiting: list[Entry] = []
        self.lock = threading.Lock()
        self.wake = threading.Event()
        self.works = False

    def submit(self, item: Any) -> Future[Any]:
        future: Future[Any] = Future()
        with self.lock:
            self.waiting.append((item, future))
            if not self.interval_s or len(self.waiting) >= self.max_batch:
                self.wake.set()
            if not self.works:
                self.works = True
                threading.Thread(target=self.work, daemon=True).start()
        return future

    def work(self) -> None:
        busy_s, all_of_it = time.monotonic(), True
        looks_s = busy_s + self.interval_s
        while True:
            while batch := self.take(all_of_it):
                self.run(batch)
                busy_s = time.monotonic()
            self.wake.wait(max(0.0, looks_s - time.monotonic()) if self.interval_s else IDLE_S)
            self.wake.clear()
            all_of_it = time.monotonic() >= looks_s
            if all_of_it:
                looks_s = time.monotonic() + self.interval_s
            with self.lock:
                if time.monotonic() - busy_s >= IDLE_S and self.may_end():
                    self.works = False
                    return

    def may_end(self) -> bool:
        """Whether the thread ends when its time is over."""
        return not self.waiting

    def take(self, all_of_it: bool) -> list[Entry]:
        """Return the next batch. Between two looks, only a full one leaves."""
        with self.lock:
            if not all_of_it and len(self.waiting) < self.max_batch:
                return []
            batch, self.waiting = self.waiting[: self.max_batch], self.waiting[self.max_batch :]
        return batch

    def run(self, batch: list[Entry]) -> None:
        try:
            outputs = self.model([item for item, _ in batch])
        except Exception as error:  # noqa: BLE001
            for _, future in batch:
                future.set_exception(error)
            return
        for (_, future), output in zip(batch, outputs, strict=True):
            future.set_result(output)


class RetiresBesideWork(RetiringBatcher):
    """When its time is over, the thread ends without a look at the queue: what came last waits for another one."""

    def may_end(self) -> bool:
        return True


RIGHT_RETIRING = (Stranger("right-retiring", RetiringBatcher),)
_faulty = partial(faulty, {})
RETIRING = (
    _faulty("retires-beside-work", RetiresBesideWork, "microsoft/ApplicationInsights-Python/issues/127",
            "a request is served although nothing came for seconds before it, and nothing comes after it", "DB-DELAY-016"),
)  # fmt: skip
