"""A batcher as many people write it: one thread takes a request, waits for others, and calls the model."""

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any


class Batcher:
    """`submit(item)` returns a Future of this item's output; `model` takes a list of items and returns as many outputs."""

    def __init__(self, model: Callable[[list[Any]], Sequence[Any]], max_batch_size: int, max_delay_s: float) -> None:
        self.model, self.max_batch_size, self.max_delay_s = model, max_batch_size, max_delay_s
        self.queue: queue.Queue[tuple[object, Future[Any]]] = queue.Queue()
        threading.Thread(target=self._loop, daemon=True).start()

    def submit(self, item: object) -> Future[Any]:
        """Queue one item. Its Future can be cancelled until the item is taken."""
        future: Future[Any] = Future()
        self.queue.put((item, future))
        return future

    def _loop(self) -> None:
        while True:
            batch = [self._take(None)]
            until = time.monotonic() + self.max_delay_s
            with contextlib.suppress(queue.Empty):
                while len(batch) < self.max_batch_size:
                    batch.append(self._take(until))
            self._run([item for item, _ in batch], [future for _, future in batch])

    def _take(self, until: float | None) -> tuple[object, Future[Any]]:
        """Return the next item that nobody has cancelled."""
        while True:
            item, future = self.queue.get(timeout=None if until is None else max(0.0, until - time.monotonic()))
            if future.set_running_or_notify_cancel():
                return item, future

    def _run(self, items: list[object], futures: list[Future[Any]]) -> None:
        try:
            outputs = self.model(items)
        except Exception as error:
            for future in futures:
                future.set_exception(error)
            return
        for future, output in zip(futures, outputs, strict=True):
            future.set_result(output)
