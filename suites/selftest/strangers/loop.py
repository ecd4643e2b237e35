"""A batcher on an event loop: futures, one timer, and a set of idle models, as in asyncio services.

`LoopBatcher` is right. Each class after it is wrong in one way, which its docstring says.
"""

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from batchproof.suites.selftest.strangers.errors import Stopped

Model = Callable[[list[Any]], Sequence[Any]]


class Waiting:
    """A request on the loop. since: when it came, on the loop's clock."""

    def __init__(self, item: Any, loop: asyncio.AbstractEventLoop) -> None:
        self.item, self.since, self.answer = item, loop.time(), loop.create_future()


class LoopBatcher:
    """A request counts as one, whatever its rows; the delay counts from when the oldest request came."""

    def __init__(self, models: Sequence[Model], max_batch: int, delay_s: float = 0) -> None:
        self.max_batch, self.delay_s = max_batch, delay_s
        self.idle = list(models)
        self.waiting: list[Waiting] = []
        self.timer: asyncio.TimerHandle | None = None
        self.running: set[asyncio.Task[None]] = set()
        self.closed = False
        self.pool = ThreadPoolExecutor(len(models))
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        self.loop.call_soon_threadsafe(self.started)

    def started(self) -> None:
        """Run once on the loop, before the first request."""

    def submit(self, item: Any) -> Future[Any]:
        """Return a Future; to cancel it cancels the request."""
        return asyncio.run_coroutine_threadsafe(self.infer(item), self.loop)

    async def infer(self, item: Any) -> Any:
        if self.closed:
            raise Stopped("the batcher is closed")
        request = Waiting(item, self.loop)
        self.waiting.append(request)
        self.arrived()
        try:
            return await request.answer
        except asyncio.CancelledError:
            self.gone(request)
            raise

    def arrived(self) -> None:
        self.poke()

    def gone(self, request: Waiting) -> None:
        if request in self.waiting:
            self.waiting.remove(request)
            self.poke()

    def queued(self) -> int:
        return len(self.waiting)

    def close(self) -> None:
        def close() -> None:
            self.closed = True
            self.poke()

        self.loop.call_soon_threadsafe(close)

    def poke(self) -> None:
        """Start every batch that is due, and set the timer for the next one."""
        while self.idle and self.waiting and self.due_s() <= 0:
            batch, self.waiting = self.waiting[: self.max_batch], self.waiting[self.max_batch :]
            task = self.loop.create_task(self.run(self.idle.pop(0), batch))
            self.running.add(task)
            task.add_done_callback(self.running.discard)
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        if self.idle and self.waiting:
            self.timer = self.loop.call_later(self.due_s(), self.poke)

    def due_s(self) -> float:
        """For how long the oldest request still waits for company; 0 or less: it leaves now."""
        if self.closed or len(self.waiting) >= self.max_batch:
            return 0
        return self.waiting[0].since + self.delay_s - self.loop.time()

    async def run(self, model: Model, batch: list[Waiting]) -> None:
        try:
            outputs = await self.execute(model, [request.item for request in batch])
        except Exception as error:  # noqa: BLE001
            self.settle(batch, [error] * len(batch))
        else:
            self.settle(batch, outputs)
        self.idle.append(model)
        self.poke()

    async def execute(self, model: Model, items: list[Any]) -> Sequence[Any]:
        return await self.loop.run_in_executor(self.pool, model, items)

    def settle(self, batch: list[Waiting], outputs: Sequence[Any]) -> None:
        for request, output in zip(batch, outputs, strict=True):
            if not request.answer.done():
                answer(request, output)


def answer(request: Waiting, output: Any) -> None:
    """Give a request its result, or its error."""
    if isinstance(output, Exception):
        request.answer.set_exception(output)
    else:
        request.answer.set_result(output)


class RearmedTimer(LoopBatcher):
    """Every newcomer sets the timer back to the whole delay."""

    last = 0.0

    def arrived(self) -> None:
        self.last = self.waiting[-1].since
        self.poke()

    def due_s(self) -> float:
        due_s = super().due_s()
        return due_s if self.closed or len(self.waiting) >= self.max_batch else due_s + self.last - self.waiting[0].since


class Ticker(LoopBatcher):
    """Batches leave when a ticker ticks, and the ticker runs whether requests wait or not."""

    ticking = False

    def started(self) -> None:
        if self.delay_s:
            self.loop.call_later(self.delay_s, self.tick)

    def tick(self) -> None:
        self.loop.call_later(self.delay_s, self.tick)
        self.ticking = True
        self.poke()
        self.ticking = False

    def due_s(self) -> float:
        due_s = super().due_s()
        return 0 if self.ticking else due_s if due_s <= 0 or not self.delay_s else self.delay_s


class AloneAfterPause(LoopBatcher):
    """The timer ran out while nothing waited: the first request after a pause as long as the delay leaves at once, alone."""

    last = 0.0

    def arrived(self) -> None:
        now = self.loop.time()
        if len(self.waiting) == 1 and now - self.last > self.delay_s:
            self.waiting[0].since = self.last
        self.last = now
        self.poke()


class DelayAfterModel(LoopBatcher):
    """The timer is set when the batch before has finished, and not when the request came."""

    freed = 0.0

    async def run(self, model: Model, batch: list[Waiting]) -> None:
        try:
            outputs = await self.execute(model, [request.item for request in batch])
        except Exception as error:  # noqa: BLE001
            outputs = [error] * len(batch)
        self.settle(batch, outputs)
        for request in self.waiting:
            request.since = self.loop.time()
        self.idle.append(model)
        self.poke()


class CancelledShifts(LoopBatcher):
    """A request that was cancelled while the model ran is left out, and the results after it go to the wrong requests."""

    def settle(self, batch: list[Waiting], outputs: Sequence[Any]) -> None:
        for request, output in zip([request for request in batch if not request.answer.done()], outputs, strict=False):
            answer(request, output)


class CancelledJams(LoopBatcher):
    """A cancelled request stays in its batch; to answer it raises, so that the others get nothing and the model is lost."""

    def gone(self, request: Waiting) -> None:
        return

    def settle(self, batch: list[Waiting], outputs: Sequence[Any]) -> None:
        for request, output in zip(batch, outputs, strict=True):
            answer(request, output)


class PermitLeaks(LoopBatcher):
    """The model's permit is given back only after a success: each failure costs an instance for ever."""

    async def run(self, model: Model, batch: list[Waiting]) -> None:
        try:
            outputs = await self.execute(model, [request.item for request in batch])
        except Exception as error:  # noqa: BLE001
            self.settle(batch, [error] * len(batch))
            return
        self.settle(batch, outputs)
        self.idle.append(model)
        self.poke()


class OneTooMany(LoopBatcher):
    """`<=` in place of `<`: it collects one request more than a batch may have."""

    def poke(self) -> None:
        self.max_batch += 1
        super().poke()
        self.max_batch -= 1


class AcceptsAfterStop(LoopBatcher):
    """Requests that come after it was stopped are accepted, and nobody answers them."""

    async def infer(self, item: Any) -> Any:
        if self.closed:
            return await self.loop.create_future()
        return await super().infer(item)


class ErrorStays(LoopBatcher):
    """The error of a failed batch stays in its slot, and the next batch raises it as well."""

    error: Exception | None = None

    async def execute(self, model: Model, items: list[Any]) -> Sequence[Any]:
        old, self.error = self.error, None
        try:
            outputs = await super().execute(model, items)
        except Exception as error:
            self.error = error
            raise
        if old is not None:
            raise old
        return outputs


class LooksOnArrival(LoopBatcher):
    """Whether the delay is over is looked at only when a request comes: the last batch waits until somebody else comes."""

    def poke(self) -> None:
        super().poke()
        if self.timer is not None:
            self.timer.cancel()


class RunsTwice(LoopBatcher):
    """A batch that failed is tried once more, although its requests may have had their effect."""

    async def execute(self, model: Model, items: list[Any]) -> Sequence[Any]:
        try:
            return await super().execute(model, items)
        except Exception:  # noqa: BLE001
            return await super().execute(model, items)
