"""A batcher on an event loop made of futures and `call_later`: a timer for the batch, and one for each request's expiry.

`TimerBatcher` is right. Each class after it is wrong in one way, which its docstring says.
"""

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from batchproof.suites.selftest.strangers.errors import QueueFull, Stopped, TooLate

Model = Callable[[list[Any]], Sequence[Any]]


class Entry:
    """A request on the loop. batch: those that it is executed with, once it is."""

    def __init__(self, item: Any, loop: asyncio.AbstractEventLoop) -> None:
        self.item, self.since = item, loop.time()
        self.answer: asyncio.Future[Any] = loop.create_future()
        self.expiry: asyncio.TimerHandle | None = None
        self.batch: list[Entry] = []


class TimerBatcher:
    """A request counts as one; delay and timeout count from when it came; `max_waiting` limits those that wait."""

    def __init__(self, models: Sequence[Model], max_batch: int, delay_s: float = 0, timeout_s: float = 0,
                 max_waiting: int = 0) -> None:
        self.max_batch, self.delay_s, self.timeout_s, self.max_waiting = max_batch, delay_s, timeout_s, max_waiting
        self.waiting: list[Entry] = []
        self.idle = list(models)
        self.timer: asyncio.TimerHandle | None = None
        self.closed = False
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def submit(self, item: Any) -> Future[Any]:
        """Return a Future; to cancel it cancels the request."""
        return asyncio.run_coroutine_threadsafe(self.infer(item), self.loop)

    async def infer(self, item: Any) -> Any:
        if self.closed:
            raise Stopped("the batcher is closed")
        if self.max_waiting and self.inside() >= self.max_waiting:
            raise QueueFull(f"{self.max_waiting} requests wait")
        entry = Entry(item, self.loop)
        self.waiting.append(entry)
        self.arrived(entry)
        self.pump()
        try:
            return await entry.answer
        except asyncio.CancelledError:
            self.left(entry)
            raise

    def inside(self) -> int:
        return len(self.waiting)

    def arrived(self, entry: Entry) -> None:
        if self.timeout_s:
            entry.expiry = self.loop.call_later(self.timeout_s, self.expire, entry)
        self.arm()

    def arm(self) -> None:
        """Set the timer for the oldest request, unless it is set."""
        if self.timer is None and self.waiting and self.idle:
            self.timer = self.loop.call_at(self.due(), self.fire)

    def disarm(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def due(self) -> float:
        return self.waiting[0].since + self.delay_s

    def fire(self) -> None:
        self.timer = None
        self.pump()

    def expire(self, entry: Entry) -> None:
        if entry in self.waiting:
            self.remove(entry)
            entry.answer.set_exception(TooLate(f"waited for more than {self.timeout_s} s"))

    def left(self, entry: Entry) -> None:
        """Deal with a request that was cancelled."""
        if entry in self.waiting:
            self.remove(entry)

    def remove(self, entry: Entry) -> None:
        self.waiting.remove(entry)
        if entry.expiry is not None:
            entry.expiry.cancel()
        self.disarm()
        self.arm()

    def ripe(self) -> bool:
        """Whether a batch is to leave now."""
        return self.closed or len(self.waiting) >= self.max_batch or self.due() <= self.loop.time()

    def pump(self) -> None:
        while self.idle and self.waiting and self.ripe():
            batch = self.take()
            if batch:
                threading.Thread(target=self.run, args=(self.idle.pop(0), batch), daemon=True).start()
        self.arm()

    def take(self) -> list[Entry]:
        batch, self.waiting = self.waiting[: self.max_batch], self.waiting[self.max_batch :]
        for entry in batch:
            entry.batch = batch
            if entry.expiry is not None:
                entry.expiry.cancel()
        self.disarm()
        return batch

    def run(self, model: Model, batch: list[Entry]) -> None:
        try:
            outputs: Sequence[Any] = model([entry.item for entry in batch])
        except Exception as error:  # noqa: BLE001
            outputs = [error] * len(batch)
        self.loop.call_soon_threadsafe(self.settle, model, batch, outputs)

    def settle(self, model: Model, batch: list[Entry], outputs: Sequence[Any]) -> None:
        for entry, output in zip(batch, outputs, strict=True):
            if entry.answer.done():
                continue
            if isinstance(output, Exception):
                entry.answer.set_exception(output)
            else:
                entry.answer.set_result(output)
        self.idle.append(model)
        self.pump()

    def queued(self) -> int:
        return len(self.waiting)

    def close(self) -> None:
        def close() -> None:
            self.closed = True
            self.pump()

        self.loop.call_soon_threadsafe(close)


class HeadCancelStopsTimer(TimerBatcher):
    """If the oldest request is cancelled its timer goes, and none is set for the others until another one comes."""

    def left(self, entry: Entry) -> None:
        first = bool(self.waiting) and self.waiting[0] is entry
        super().left(entry)
        if first:
            self.disarm()


class RestWaitsTwice(TimerBatcher):
    """When a batch leaves, the timer starts again for those that stay, as if they had just come."""

    def take(self) -> list[Entry]:
        batch = super().take()
        for entry in self.waiting:
            entry.since = self.loop.time()
        return batch


class StaleTimer(TimerBatcher):
    """The timer of a batch that was full goes on, and sends off the next one when its own delay is not over."""

    fired = False

    def disarm(self) -> None:
        return

    def fire(self) -> None:
        self.fired = True
        super().fire()
        self.fired = False

    def ripe(self) -> bool:
        return self.fired or super().ripe()


class OneCancelsAll(TimerBatcher):
    """Who waits for an answer waits for the batch's task itself: to cancel one in the model cancels all of its batch."""

    def left(self, entry: Entry) -> None:
        super().left(entry)
        for other in entry.batch:
            other.answer.cancel()


class ExpiredUntold(TimerBatcher):
    """A request that turns out to have expired when a batch is formed is dropped, and nobody tells its sender."""

    def arrived(self, entry: Entry) -> None:
        self.arm()

    def take(self) -> list[Entry]:
        batch = super().take()
        late = self.loop.time() - self.timeout_s
        return [entry for entry in batch if not self.timeout_s or entry.since > late]


class LimitDrifts(TimerBatcher):
    """A request frees its place when it leaves the queue, and once more if it is cancelled in the model."""

    places = 0

    def inside(self) -> int:
        return self.places

    def arrived(self, entry: Entry) -> None:
        self.places += 1
        super().arrived(entry)

    def take(self) -> list[Entry]:
        batch = super().take()
        self.places -= len(batch)
        return batch

    def expire(self, entry: Entry) -> None:
        self.places -= entry in self.waiting
        super().expire(entry)

    def left(self, entry: Entry) -> None:
        self.places -= 1
        super().left(entry)
