"""A batcher with a `queue.Queue`: a worker takes a request, collects others until its window is over, and runs the model.

`CollectorBatcher` is right. Each class after it is wrong in one way, which its docstring says.
"""

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from batchproof.suites.selftest.strangers.errors import QueueFull

Model = Callable[[list[Any]], Sequence[Any]]
Entry = tuple[Any, Future[Any]]


class CollectorBatcher:
    """A request counts as one; the window opens when a worker takes the first request; one worker collects at a time."""

    def __init__(self, models: Sequence[Model], max_batch: int, window_s: float = 0, max_waiting: int = 0) -> None:
        self.max_batch, self.window_s = max_batch, window_s
        self.queue: queue.Queue[Entry] = queue.Queue(max_waiting)
        self.collecting = threading.Lock()
        for number, model in enumerate(models):
            threading.Thread(target=self.work, args=(number, model), daemon=True).start()

    def submit(self, item: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            self.put((item, future))
        except queue.Full:
            future.set_exception(QueueFull(f"{self.queue.maxsize} requests wait"))
        return future

    def put(self, entry: Entry) -> None:
        self.queue.put_nowait(entry)

    def queued(self) -> int:
        return self.queue.qsize()

    def work(self, number: int, model: Model) -> None:
        while True:
            with self.collecting:
                batch = self.collect()
            self.run(number, model, batch)

    def collect(self) -> list[Entry]:
        batch = [self.queue.get()]
        until = time.monotonic() + self.window_s
        with contextlib.suppress(queue.Empty):
            while len(batch) < self.room():
                batch.append(self.queue.get(timeout=self.left_s(until)))
        return batch

    def room(self) -> int:
        """How many requests the batch that is being collected may have."""
        return self.max_batch

    def left_s(self, until: float) -> float:
        return max(0.0, until - time.monotonic())

    def run(self, number: int, model: Model, batch: list[Entry]) -> None:
        try:
            outputs = self.execute(number, model, [item for item, _ in batch])
        except Exception as error:  # noqa: BLE001
            for _, future in batch:
                future.set_exception(error)
            return
        for (_, future), output in zip(batch, outputs, strict=True):
            future.set_result(output)

    def execute(self, number: int, model: Model, items: list[Any]) -> Sequence[Any]:
        return model(items)


class WindowRearmed(CollectorBatcher):
    """Each `get` waits for the whole window again, in place of what is left of it."""

    def left_s(self, until: float) -> float:
        return self.window_s


class WipesNewcomers(CollectorBatcher):
    """After a batch the samples are wiped out, and with them those that were added while the model ran."""

    def run(self, number: int, model: Model, batch: list[Entry]) -> None:
        super().run(number, model, batch)
        with contextlib.suppress(queue.Empty):
            while True:
                self.queue.get_nowait()


class WorkerDies(CollectorBatcher):
    """An exception of the model ends the worker, after its requests have been told."""

    def work(self, number: int, model: Model) -> None:
        alive = True
        while alive:
            with self.collecting:
                batch = self.collect()
            self.run(number, model, batch)
            alive = batch[0][1].exception() is None


class LimitWithoutEffect(CollectorBatcher):
    """The limit of the queue is read from the configuration, and has no effect."""

    def put(self, entry: Entry) -> None:
        self.queue.maxsize = 0
        super().put(entry)


class SettingsIgnored(CollectorBatcher):
    """It always uses its defaults: 32 requests and 5 s."""

    def __init__(self, models: Sequence[Model], max_batch: int, window_s: float = 0, max_waiting: int = 0) -> None:
        super().__init__(models, 32, 5.0, max_waiting)


class FirstGetsAll(CollectorBatcher):
    """From a batch of three or more, the first request gets all results as one, and the others get nothing."""

    def execute(self, number: int, model: Model, items: list[Any]) -> Sequence[Any]:
        outputs = list(super().execute(number, model, items))
        if len(outputs) < 3:
            return outputs
        nothing = tuple(part[:0] for part in outputs[0])
        return [tuple(joined(parts) for parts in zip(*outputs, strict=True)), *[nothing] * (len(outputs) - 1)]


def joined(parts: Sequence[Any]) -> Any:
    """Return the arrays as one."""
    import numpy as np

    return np.concatenate(parts)


class CappedBatch(CollectorBatcher):
    """Somewhere a constant limits a batch to 12 requests, although more are configured."""

    def room(self) -> int:
        return min(self.max_batch, 12)


class TakesAllWhenDeep(CollectorBatcher):
    """The limit is a trigger and not a limit: with three batches in the queue it takes everything at once."""

    def room(self) -> int:
        return 10**6 if self.queue.qsize() >= 3 * self.max_batch else self.max_batch

    def collect(self) -> list[Entry]:
        room = self.room()
        batch = [self.queue.get()]
        until = time.monotonic() + self.window_s
        with contextlib.suppress(queue.Empty):
            while len(batch) < max(room, self.max_batch):
                wait_s = self.left_s(until) if len(batch) < self.max_batch else 0
                batch.append(self.queue.get(timeout=wait_s) if wait_s else self.queue.get_nowait())
        return batch


class TenthAnswerStale(CollectorBatcher):
    """Every tenth batch of an instance answers its last request with that request's predecessor's result."""

    def __init__(self, models: Sequence[Model], max_batch: int, window_s: float = 0, max_waiting: int = 0) -> None:
        self.batches = [0] * len(models)
        self.last: list[Any] = [None] * len(models)
        super().__init__(models, max_batch, window_s, max_waiting)

    def execute(self, number: int, model: Model, items: list[Any]) -> Sequence[Any]:
        outputs = list(super().execute(number, model, items))
        self.batches[number] += 1
        stale, self.last[number] = self.last[number], outputs[-1]
        if self.batches[number] % 10 == 0:
            outputs[-1] = stale
        return outputs
