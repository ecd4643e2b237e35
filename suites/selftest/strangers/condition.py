"""A batcher around one lock: every instance is a thread that waits on one condition variable, as in many C++ servers.

`ConditionBatcher` is right. Each class after it is wrong in one way, which its docstring says.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from batchproof.suites.selftest.strangers.errors import QueueFull, Stopped, TooLarge, TooLate

Model = Callable[[list[Any]], Sequence[Any]]
NEVER_S = 3600.0


class Job:
    """A request that waits. rows: how many it has; since: when it was queued, in seconds."""

    def __init__(self, item: Any) -> None:
        self.item, self.rows, self.since = item, len(item), time.monotonic()
        self.future: Future[Any] = Future()


class ConditionBatcher:
    """Rows are counted; the delay and the timeout count from when a request was queued; `max_waiting` limits the queue."""

    def __init__(self, models: Sequence[Model], max_rows: int, delay_s: float = 0, timeout_s: float = 0,
                 max_waiting: int = 0) -> None:
        self.max_rows, self.delay_s, self.timeout_s, self.max_waiting = max_rows, delay_s, timeout_s, max_waiting
        self.waiting: deque[Job] = deque()
        self.changed = threading.Condition()
        self.closed = False
        for number, model in enumerate(models):
            threading.Thread(target=self.work, args=(number, model), daemon=True).start()
        if timeout_s:
            threading.Thread(target=self.sweep, daemon=True).start()

    def submit(self, item: Any) -> Future[Any]:
        job = Job(item)
        with self.changed:
            if (error := self.refusal(job)) is not None:
                job.future.set_exception(error)
            else:
                self.waiting.append(job)
                self.arrived(job)
                self.tell()
        return job.future

    def refusal(self, job: Job) -> Exception | None:
        if self.closed:
            return Stopped("the batcher is closed")
        if job.rows > self.max_rows:
            return TooLarge(f"{job.rows} rows, and a batch has at most {self.max_rows}")
        if self.max_waiting and len(self.waiting) >= self.max_waiting:
            return QueueFull(f"{self.max_waiting} requests wait")
        return None

    def arrived(self, job: Job) -> None:
        """Note a request that has just been queued."""

    def tell(self) -> None:
        """Wake the instances up: a request has been queued."""
        self.changed.notify_all()

    def cancel(self, future: Future[Any]) -> None:
        with self.changed:
            for job in [job for job in self.waiting if job.future is future]:
                self.waiting.remove(job)
            future.cancel()
            self.changed.notify_all()

    def queued(self) -> int:
        return len(self.waiting)

    def close(self) -> None:
        with self.changed:
            self.closed = True
            self.changed.notify_all()

    def work(self, number: int, model: Model) -> None:
        while batch := self.next_batch(number):
            self.run(model, batch)

    def next_batch(self, number: int) -> list[Job]:
        with self.changed:
            while True:
                self.expire()
                if self.waiting and self.may_take(number):
                    left_s = self.due_s()
                    if left_s <= 0:
                        return self.take()
                    self.changed.wait(left_s)
                elif self.closed and not self.waiting:
                    return []
                else:
                    self.changed.wait()

    def may_take(self, number: int) -> bool:
        """Whether this instance takes part."""
        return True

    def due_s(self) -> float:
        """For how long the head of the queue still waits for company; 0 or less: it leaves now."""
        if self.closed or sum(job.rows for job in self.head()) == self.max_rows or len(self.head()) < len(self.waiting):
            return 0
        return self.waiting[0].since + self.delay_s - time.monotonic()

    def head(self) -> list[Job]:
        """The requests that make up the next batch."""
        head, rows = [], 0
        for job in self.waiting:
            rows += job.rows
            if rows > self.max_rows:
                break
            head.append(job)
        return head

    def take(self) -> list[Job]:
        batch = self.head()
        for job in batch:
            self.waiting.remove(job)
            job.future.set_running_or_notify_cancel()
        self.changed.notify_all()
        return batch

    def run(self, model: Model, batch: list[Job]) -> None:
        try:
            outputs = model([job.item for job in batch])
        except Exception as error:  # noqa: BLE001
            for job in batch:
                job.future.set_exception(error)
            return
        for job, output in zip(batch, outputs, strict=True):
            job.future.set_result(output)

    def expire(self) -> None:
        while self.timeout_s and self.waiting and time.monotonic() - self.waiting[0].since > self.timeout_s:
            self.waiting.popleft().future.set_exception(TooLate(f"waited for more than {self.timeout_s} s"))

    def sweep(self) -> None:
        """Refuse what has waited for too long, also while every instance is busy."""
        with self.changed:
            while not self.closed or self.waiting:
                self.expire()
                oldest = self.waiting[0].since if self.waiting else time.monotonic() + NEVER_S
                self.changed.wait(max(0.0, oldest + self.timeout_s - time.monotonic()) + 0.0005)


class LostWakeup(ConditionBatcher):
    """The event that says "something was queued" is cleared with every batch, although requests still wait."""

    news = False

    def arrived(self, job: Job) -> None:
        self.news = True

    def due_s(self) -> float:
        return super().due_s() if self.news or self.closed else NEVER_S

    def take(self) -> list[Job]:
        self.news = False
        return super().take()


class LastOvershoots(ConditionBatcher):
    """Requests are added as long as there is room, and nobody looks whether the last one fits into it."""

    def head(self) -> list[Job]:
        head, rows = [], 0
        for job in self.waiting:
            if rows >= self.max_rows:
                break
            rows += job.rows
            head.append(job)
        return head

    def due_s(self) -> float:
        return 0 if sum(job.rows for job in self.head()) >= self.max_rows else super().due_s()


class ExpiresWhenFree(ConditionBatcher):
    """A request that has waited for too long is told so only when an instance is free to look at the queue."""

    def sweep(self) -> None:
        return


class CancelledKeepsPlace(ConditionBatcher):
    """The counter of waiting requests goes up with each request, and down only when a batch takes it: not when cancelled."""

    counted = 0

    def refusal(self, job: Job) -> Exception | None:
        error = super().refusal(job)
        if error is None and self.max_waiting and self.counted >= self.max_waiting:
            return QueueFull(f"{self.counted} requests wait")
        return error

    def arrived(self, job: Job) -> None:
        self.counted += 1

    def take(self) -> list[Job]:
        batch = super().take()
        self.counted -= len(batch)
        return batch

    def expire(self) -> None:
        before = len(self.waiting)
        super().expire()
        self.counted -= before - len(self.waiting)


class NewestFirstWhenDeep(ConditionBatcher):
    """Overloaded, with more than 16 requests in the queue, it serves the newest first."""

    DEPTH = 16

    def arrived(self, job: Job) -> None:
        if len(self.waiting) > self.DEPTH:
            self.waiting.appendleft(self.waiting.pop())


class IdleAfterExpiry(ConditionBatcher):
    """Its count of idle instances drifts with each request that expires, until only the first instance gets work."""

    expired = 0

    def expire(self) -> None:
        before = len(self.waiting)
        super().expire()
        self.expired += before - len(self.waiting)

    def may_take(self, number: int) -> bool:
        return number == 0 or self.expired < 1


class StaleTail(ConditionBatcher):
    """The buffer of results is used again: the last place of a smaller batch keeps what a full batch left there."""

    buffer: tuple[Any, ...] = ()

    def run(self, model: Model, batch: list[Job]) -> None:
        def keeping(items: list[Any]) -> Sequence[Any]:
            outputs = list(model(items))
            if sum(map(len, items)) == self.max_rows:
                self.buffer = tuple(outputs)
            elif 1 < len(outputs) < len(self.buffer):
                outputs[-1] = self.buffer[len(outputs) - 1]
                self.buffer = ()
            return outputs

        super().run(keeping, batch)


class TimeAddsUp(ConditionBatcher):
    """It subtracts the age of the batch from what is left at every arrival, so that a batch of several leaves too early."""

    spent_s = 0.0

    def arrived(self, job: Job) -> None:
        self.spent_s += job.since - self.waiting[0].since

    def due_s(self) -> float:
        return super().due_s() - self.spent_s

    def take(self) -> list[Job]:
        self.spent_s = 0.0
        return super().take()


class CloseForgets(ConditionBatcher):
    """Closing ends the workers; what still waits is neither answered nor refused."""

    def close(self) -> None:
        with self.changed:
            self.waiting.clear()
        super().close()


class LimitWearsOff(ConditionBatcher):
    """The limit of the queue refuses one request, and has no effect from then on."""

    refused = False

    def refusal(self, job: Job) -> Exception | None:
        error = super().refusal(job)
        if isinstance(error, QueueFull):
            if self.refused:
                return None
            self.refused = True
        return error


class TwoInstancesAtMost(ConditionBatcher):
    """The third instance, and all after it, never get a request."""

    def may_take(self, number: int) -> bool:
        return number < 2


class OnePermitTooMany(ConditionBatcher):
    """A failed batch gives its permit back twice, so that from then on two batches run in one instance at a time."""

    def run(self, model: Model, batch: list[Job]) -> None:
        super().run(model, batch)
        if batch[0].future.exception() is not None:
            threading.Thread(target=self.work, args=(0, model), daemon=True).start()


class StopsAfterHundreds(ConditionBatcher):
    """It serves 250 requests, and then takes no more."""

    LIFE = 250
    served = 0

    def due_s(self) -> float:
        return NEVER_S if self.served >= self.LIFE else super().due_s()

    def take(self) -> list[Job]:
        batch = super().take()
        self.served += len(batch)
        return batch


class OversizeBlocks(ConditionBatcher):
    """A request that is larger than any batch is not refused; it stays at the head of the queue and blocks all others."""

    def refusal(self, job: Job) -> Exception | None:
        error = super().refusal(job)
        return None if isinstance(error, TooLarge) else error

    def due_s(self) -> float:
        return super().due_s() if self.head() else NEVER_S


class ExpiredStillRuns(ConditionBatcher):
    """A request that waited for too long is refused, but stays in its batch and is executed all the same."""

    def expire(self) -> None:
        for job in self.waiting:
            if self.timeout_s and time.monotonic() - job.since > self.timeout_s and not job.future.done():
                job.future.set_exception(TooLate(f"waited for more than {self.timeout_s} s"))

    def sweep(self) -> None:
        with self.changed:
            while not self.closed:
                self.expire()
                self.changed.wait(0.001)

    def take(self) -> list[Job]:
        batch = self.head()
        for job in batch:
            self.waiting.remove(job)
        return batch

    def run(self, model: Model, batch: list[Job]) -> None:
        alive = [not job.future.done() and job.future.set_running_or_notify_cancel() for job in batch]
        outputs: Sequence[Any] = ()
        error: Exception | None = None
        try:
            outputs = model([job.item for job in batch])
        except Exception as raised:  # noqa: BLE001
            error = raised
        for place, job in enumerate(batch):
            if alive[place] and error is not None:
                job.future.set_exception(error)
            elif alive[place]:
                job.future.set_result(outputs[place])
