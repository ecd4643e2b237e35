"""A pool of workers, each with a queue and a model of its own; a request goes to the worker that has the least to do.

`PoolBatcher` is right. Each class after it is wrong in one way, which its docstring says.
"""

import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from batchproof.suites.selftest.strangers.errors import Stopped

Model = Callable[[list[Any]], Sequence[Any]]
Entry = tuple[Any, Future[Any]]


class Worker:
    """One model, its queue, and the thread that serves it. load: requests that it has and has not answered."""

    def __init__(self, pool: "PoolBatcher", number: int, model: Model) -> None:
        self.pool, self.number, self.model = pool, number, model
        self.queue: queue.SimpleQueue[Entry | None] = queue.SimpleQueue()
        self.load = self.taken = self.put = 0
        threading.Thread(target=self.loop, daemon=True).start()

    def loop(self) -> None:
        while (first := self.queue.get()) is not None:
            batch, until, stop = [first], time.monotonic() + self.pool.delay_s, False
            while len(batch) < self.pool.max_batch and not stop:
                try:
                    entry = self.queue.get(timeout=max(0.0, until - time.monotonic()))
                except queue.Empty:
                    break
                stop = entry is None
                if entry is not None:
                    batch.append(entry)
            self.taken += len(batch)
            self.pool.run(self, batch)
            with self.pool.lock:
                self.load -= len(batch)
            if stop:
                return


class PoolBatcher:
    """A request counts as one; a worker's delay opens when it takes the first request."""

    def __init__(self, models: Sequence[Model], max_batch: int, delay_s: float = 0) -> None:
        self.max_batch, self.delay_s = max_batch, delay_s
        self.lock = threading.Lock()
        self.closed = False
        self.workers = [Worker(self, number, model) for number, model in enumerate(models)]

    def submit(self, item: Any) -> Future[Any]:
        future: Future[Any] = Future()
        with self.lock:
            if self.closed:
                future.set_exception(Stopped("the pool is closed"))
                return future
            worker = self.choose()
            worker.load += 1
            worker.put += 1
            worker.queue.put((item, future))
        return future

    def choose(self) -> Worker:
        return min(self.workers, key=lambda worker: worker.load)

    def queued(self) -> int:
        with self.lock:
            return sum(worker.put - worker.taken for worker in self.workers)

    def close(self) -> None:
        with self.lock:
            self.closed = True
            for worker in self.workers:
                worker.queue.put(None)

    def run(self, worker: Worker, batch: list[Entry]) -> None:
        try:
            outputs = self.execute(worker, [item for item, _ in batch])
        except Exception as error:  # noqa: BLE001
            for _, future in batch:
                future.set_exception(error)
            return
        for (_, future), output in zip(batch, outputs, strict=True):
            future.set_result(output)

    def execute(self, worker: Worker, items: list[Any]) -> Sequence[Any]:
        return worker.model(items)


class DeadWorkerChosen(PoolBatcher):
    """A worker whose model raised is gone, has nothing to do, and therefore gets every request from then on."""

    def run(self, worker: Worker, batch: list[Entry]) -> None:
        super().run(worker, batch)
        if batch[0][1].exception() is not None:
            with self.lock:
                worker.load -= 10**6
            raise SystemExit


class ThirdShifts(PoolBatcher):
    """The third worker returns its results shifted by one place."""

    def execute(self, worker: Worker, items: list[Any]) -> Sequence[Any]:
        outputs = super().execute(worker, items)
        return outputs if worker.number < 2 else [*outputs[1:], outputs[0]]


class ShiftsAfterError(PoolBatcher):
    """After a batch that failed, its worker's next results belong to the requests one place further on."""

    def __init__(self, models: Sequence[Model], max_batch: int, delay_s: float = 0) -> None:
        self.failed = [False] * len(models)
        super().__init__(models, max_batch, delay_s)

    def execute(self, worker: Worker, items: list[Any]) -> Sequence[Any]:
        try:
            outputs = super().execute(worker, items)
        except Exception:
            self.failed[worker.number] = True
            raise
        if self.failed[worker.number] and len(outputs) > 1:
            self.failed[worker.number] = False
            return [outputs[-1], *outputs[:-1]]
        return outputs


class RetriesElsewhere(PoolBatcher):
    """A batch that takes longer than 150 ms is given to another worker as well, and runs twice."""

    PATIENCE_S = 0.15

    def execute(self, worker: Worker, items: list[Any]) -> Sequence[Any]:
        done: queue.SimpleQueue[Any] = queue.SimpleQueue()

        def attempt(model: Model) -> None:
            try:
                done.put(model(items))
            except Exception as error:  # noqa: BLE001
                done.put(error)

        threading.Thread(target=attempt, args=(worker.model,), daemon=True).start()
        try:
            outputs = done.get(timeout=self.PATIENCE_S)
        except queue.Empty:
            other = self.workers[(worker.number + 1) % len(self.workers)]
            threading.Thread(target=attempt, args=(other.model,), daemon=True).start()
            outputs = done.get()
        if isinstance(outputs, Exception):
            raise outputs
        return outputs
