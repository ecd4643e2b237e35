"""A batcher as a pipeline with queues between its stages: intake, grouping, a stage for each model, and replies.

`PipelineBatcher` is right. Each class after it is wrong in one way, which its docstring says.
"""

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from batchproof.suites.selftest.strangers.errors import Stopped, TooLarge

Model = Callable[[list[Any]], Sequence[Any]]


class Job:
    """A request on its way. taken: when the grouping stage took it."""

    def __init__(self, item: Any) -> None:
        self.item, self.taken = item, 0.0
        self.future: Future[Any] = Future()


class PipelineBatcher:
    """Rows are counted; a window opens when a model is idle and the grouping stage takes the first request."""

    def __init__(self, models: Sequence[Model], max_rows: int, window_s: float = 0) -> None:
        self.max_rows, self.window_s = max_rows, window_s
        self.intake: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self.idle: queue.SimpleQueue[int] = queue.SimpleQueue()
        self.batches: list[queue.SimpleQueue[list[Job] | None]] = [queue.SimpleQueue() for _ in models]
        self.results: queue.SimpleQueue[tuple[list[Job], Any]] = queue.SimpleQueue()
        self.carry: Job | None = None
        self.lock = threading.Lock()
        self.closed = self.stopping = False
        threading.Thread(target=self.group, daemon=True).start()
        threading.Thread(target=self.reply, daemon=True).start()
        for number, model in enumerate(models):
            self.idle.put(number)
            threading.Thread(target=self.work, args=(number, model), daemon=True).start()

    def submit(self, item: Any) -> Future[Any]:
        job = Job(item)
        with self.lock:
            if (error := self.refusal(job)) is not None:
                job.future.set_exception(error)
            else:
                self.intake.put(job)
        return job.future

    def refusal(self, job: Job) -> Exception | None:
        if self.closed:
            return Stopped("the pipeline is closed")
        if len(job.item) > self.max_rows:
            return TooLarge(f"{len(job.item)} rows, and a batch has at most {self.max_rows}")
        return None

    def queued(self) -> int:
        return self.intake.qsize() + (self.carry is not None)

    def close(self) -> None:
        with self.lock:
            self.closed = True
            self.intake.put(None)

    def group(self) -> None:
        while True:
            number = self.idle.get()
            batch = self.collect()
            if not batch:
                return
            self.send(number, batch)

    def send(self, number: int, batch: list[Job]) -> None:
        self.batches[number].put(batch)

    def collect(self) -> list[Job]:
        """Return the next batch; an empty one after the last."""
        batch: list[Job] = []
        while not self.stopping or self.carry is not None:
            batch = [job for job in batch if not job.future.cancelled()]
            room = self.max_rows - sum(len(job.item) for job in batch)
            try:
                job = self.following(batch) if room else None
            except queue.Empty:
                job = None
            if job is None and not batch and not self.stopping:
                continue
            if job is None:
                break
            if job.future.cancelled():
                continue
            if len(job.item) > room:
                self.hold(job)
                break
            job.taken = time.monotonic()
            batch.append(job)
        return self.start(batch) or (self.collect() if batch else [])

    def following(self, batch: list[Job]) -> Job | None:
        """Return the next request: the one that did not fit before, or one from the intake; None if none is to come."""
        if self.carry is not None:
            job, self.carry = self.carry, None
            return job
        job = None if self.stopping else self.intake.get(timeout=self.wait_s(batch))
        self.stopping |= job is None
        return job

    def wait_s(self, batch: list[Job]) -> float | None:
        """For how long to wait for the next request; None: until one comes."""
        return max(0.0, batch[0].taken + self.window_s - time.monotonic()) if batch else None

    def hold(self, job: Job) -> None:
        """Keep a request that does not fit for the next batch."""
        self.carry = job

    def start(self, batch: list[Job]) -> list[Job]:
        return [job for job in batch if job.future.set_running_or_notify_cancel()]

    def work(self, number: int, model: Model) -> None:
        while (batch := self.batches[number].get()) is not None:
            try:
                outputs: Any = model([job.item for job in batch])
            except Exception as error:  # noqa: BLE001
                outputs = error
            self.results.put((batch, outputs))
            self.idle.put(number)

    def reply(self) -> None:
        while True:
            self.answer(*self.results.get())

    def answer(self, batch: list[Job], outputs: Any) -> None:
        for place, job in enumerate(batch):
            if isinstance(outputs, Exception):
                job.future.set_exception(outputs)
            else:
                job.future.set_result(outputs[place])


class CarryLostAtClose(PipelineBatcher):
    """Once it is closed, the grouping stage empties the intake, and forgets the request that did not fit into a batch."""

    def following(self, batch: list[Job]) -> Job | None:
        if self.closed:
            self.carry = None
        return super().following(batch)


class CarryWaits(PipelineBatcher):
    """A request that did not fit into a batch is looked at again when the next one comes, and not when its time is over."""

    carried: Job | None = None

    def hold(self, job: Job) -> None:
        self.carried = job
        super().hold(job)

    def wait_s(self, batch: list[Job]) -> float | None:
        return None if batch and batch[0] is self.carried else super().wait_s(batch)


class CarryToTheBack(PipelineBatcher):
    """A request that does not fit into a batch goes back to the end of the queue."""

    def hold(self, job: Job) -> None:
        self.intake.put(job)


class RepliesInTurn(PipelineBatcher):
    """Results are given to batches in the turn in which these were sent out, whichever model is done first."""

    def __init__(self, models: Sequence[Model], max_rows: int, window_s: float = 0) -> None:
        self.sent: deque[list[Job]] = deque()
        super().__init__(models, max_rows, window_s)

    def send(self, number: int, batch: list[Job]) -> None:
        self.sent.append(batch)
        super().send(number, batch)

    def answer(self, batch: list[Job], outputs: Any) -> None:
        batch = self.sent.popleft()
        super().answer(batch if isinstance(outputs, Exception) else batch[: len(outputs)], outputs)


class RestDropped(PipelineBatcher):
    """To answer a request that was cancelled in the model raises, and the rest of its batch is dropped."""

    def start(self, batch: list[Job]) -> list[Job]:
        return [job for job in batch if not job.future.cancelled()]

    def answer(self, batch: list[Job], outputs: Any) -> None:
        try:
            super().answer(batch, outputs)
        except Exception:  # noqa: BLE001
            return


class BreakerOpens(PipelineBatcher):
    """After three batches in a row that failed, everything that comes in the next half second is refused."""

    failed = 0
    until = 0.0

    def refusal(self, job: Job) -> Exception | None:
        return RuntimeError("the circuit is open") if time.monotonic() < self.until else super().refusal(job)

    def answer(self, batch: list[Job], outputs: Any) -> None:
        self.failed = self.failed + 1 if isinstance(outputs, Exception) else 0
        if self.failed >= 3:
            self.until = time.monotonic() + 0.5
        super().answer(batch, outputs)
