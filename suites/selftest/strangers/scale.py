"""Faults that a handful of requests does not show: hundreds of them, many at once, or what a hundred failures leave behind.

Each class is one of the right batchers with one thing wrong, which its docstring says.
"""

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from batchproof.suites.selftest.strangers.collector import CollectorBatcher, Entry, Model
from batchproof.suites.selftest.strangers.condition import NEVER_S, ConditionBatcher, Job
from batchproof.suites.selftest.strangers.errors import QueueFull
from batchproof.suites.selftest.strangers.loop import LoopBatcher, Waiting, answer
from batchproof.suites.selftest.strangers.pool import PoolBatcher, Worker


class SlotsLeak(ConditionBatcher):
    """There are 200 slots for requests, and a cancelled request does not give its slot back: at last all are refused."""

    SLOTS = 200
    leaked = 0

    def cancel(self, future: Future[Any]) -> None:
        self.leaked += not future.done()
        super().cancel(future)

    def refusal(self, job: Job) -> Exception | None:
        return QueueFull("there is no free slot") if self.leaked >= self.SLOTS else super().refusal(job)


class RescansQueue(ConditionBatcher):
    """Each arrival looks through the whole queue for requests that nobody wants any more: n requests take n * n steps."""

    def arrived(self, job: Job) -> None:
        self.waiting = deque(one for one in self.waiting if not one.future.cancelled())


class SmallOnesFirst(ConditionBatcher):
    """A batch is filled with the smallest requests: a large one waits for as long as small ones keep coming."""

    def head(self) -> list[Job]:
        head, rows = [], 0
        for job in sorted(self.waiting, key=lambda job: job.rows):
            rows += job.rows
            if rows > self.max_rows:
                break
            head.append(job)
        return head


class ThousandthNotWoken(ConditionBatcher):
    """The news of a request is lost once in a thousand times: it waits until something else wakes an instance up."""

    ONCE_IN = 1000
    told = 0

    def tell(self) -> None:
        self.told += 1
        if self.told % self.ONCE_IN:
            super().tell()


class TimeoutsKeepPlaces(ConditionBatcher):
    """The counter of waiting requests does not go down when one is refused because it waited too long."""

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

    def cancel(self, future: Future[Any]) -> None:
        with self.changed:
            before = len(self.waiting)
            super().cancel(future)
            self.counted -= before - len(self.waiting)


class NumbersWrap(LoopBatcher):
    """Answers go by number, and numbers have ten bits: of two requests with one number, the older gets nothing."""

    NUMBERS = 1024

    def __init__(self, models: Sequence[Model], max_batch: int, delay_s: float = 0) -> None:
        self.count = 0
        self.numbers: dict[Waiting, int] = {}
        self.pending: dict[int, Waiting] = {}
        super().__init__(models, max_batch, delay_s)

    def arrived(self) -> None:
        request, number = self.waiting[-1], self.count % self.NUMBERS
        self.count += 1
        self.numbers[request], self.pending[number] = number, request
        self.poke()

    def gone(self, request: Waiting) -> None:
        if request in self.waiting:
            self.pending.pop(self.numbers.pop(request), None)
        super().gone(request)

    def settle(self, batch: list[Waiting], outputs: Sequence[Any]) -> None:
        for request, output in zip(batch, outputs, strict=True):
            owner = self.pending.pop(self.numbers.pop(request), None)
            if owner is not None and not owner.answer.done():
                answer(owner, output)


class TimerDies(LoopBatcher):
    """An exception in a batch that the timer sent off ends the timer: from then on, only full batches leave."""

    dead = False

    def settle(self, batch: list[Waiting], outputs: Sequence[Any]) -> None:
        self.dead |= self.delay_s > 0 and len(batch) < self.max_batch and isinstance(outputs[0], Exception)
        super().settle(batch, outputs)

    def due_s(self) -> float:
        return NEVER_S if self.dead and not self.closed and len(self.waiting) < self.max_batch else super().due_s()


class WaitersFillPool(LoopBatcher):
    """Each request holds a thread of the pool until it is answered, and the model needs one: 500 at once leave it none."""

    THREADS = 500
    inside = 0

    async def infer(self, item: Any) -> Any:
        self.inside += 1
        try:
            return await super().infer(item)
        finally:
            self.inside -= 1

    async def execute(self, model: Model, items: list[Any]) -> Sequence[Any]:
        while self.inside >= self.THREADS:
            await asyncio.sleep(0.02)
        return await super().execute(model, items)


class BytesDropped(CollectorBatcher):
    """A batch has at most 8,000 bytes, and the requests that do not fit into it are dropped."""

    BYTES = 8000

    def run(self, number: int, model: Model, batch: list[Entry]) -> None:
        fits, size = [], 0
        for entry in batch:
            size += entry[0].nbytes
            if size <= self.BYTES:
                fits.append(entry)
        super().run(number, model, fits)


class LockOverModel(CollectorBatcher):
    """The lock that lets one worker collect at a time is held until the model has answered: instances take turns."""

    def work(self, number: int, model: Model) -> None:
        while True:
            with self.collecting:
                self.run(number, model, self.collect())


class SwappedWhenTogether(PoolBatcher):
    """Results pass through one place for all workers: two batches that end within 0.2 ms of each other get one's results."""

    TAKES_S = 0.0002
    place: Sequence[Any] = ()

    def execute(self, worker: Worker, items: list[Any]) -> Sequence[Any]:
        outputs = self.place = super().execute(worker, items)
        time.sleep(self.TAKES_S)
        return self.place if len(self.place) == len(items) else outputs
