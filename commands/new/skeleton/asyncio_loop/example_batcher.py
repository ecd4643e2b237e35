"""A batcher for asyncio: one task takes a request, waits for others, and awaits the model."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

Model = Callable[[list[Any]], Awaitable[Sequence[Any]]]


class Batcher:
    """`await predict(item)` gives this item's output; `model` is awaited with a list of items, and gives as many outputs."""

    def __init__(self, model: Model, max_batch_size: int, max_delay_s: float) -> None:
        self.model, self.max_batch_size, self.max_delay_s = model, max_batch_size, max_delay_s
        self.waiting: deque[tuple[object, asyncio.Future[Any]]] = deque()
        self.arrived = asyncio.Event()
        self.loop = asyncio.get_running_loop()
        self.task = self.loop.create_task(self._form_batches())

    async def predict(self, item: object) -> Any:
        """Queue one item and wait for its output. Who is cancelled before its batch is formed is not in it."""
        future = self.loop.create_future()
        self.waiting.append((item, future))
        self.arrived.set()
        return await future

    async def _form_batches(self) -> None:
        while True:
            batch = [await self._take(None)]
            until = self.loop.time() + self.max_delay_s
            while len(batch) < self.max_batch_size and (taken := await self._take(until)):
                batch.append(taken)
            await self._run([item for item, _ in batch], [future for _, future in batch])

    async def _take(self, until: float | None) -> Any:
        """Return the next item that nobody has cancelled, or None when the time is up."""
        while True:
            while self.waiting:
                item, future = self.waiting.popleft()
                if not future.done():
                    return item, future
            self.arrived.clear()
            try:
                await asyncio.wait_for(self.arrived.wait(), None if until is None else until - self.loop.time())
            except asyncio.TimeoutError:
                return None

    async def _run(self, items: list[object], futures: list[asyncio.Future[Any]]) -> None:
        try:
            outputs: Sequence[Any] = await self.model(items)
        except Exception as error:
            outputs = [error] * len(items)
        for future, output in zip(futures, outputs, strict=True):
            if future.done():
                continue  # its sender has gone away
            if isinstance(output, Exception):
                future.set_exception(output)
            else:
                future.set_result(output)
