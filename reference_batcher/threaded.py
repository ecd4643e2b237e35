"""The threaded shell: what users import. A scheduler thread asks the core; one thread an instance runs the model."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .config import BatcherConfig
from .decisions import Dispatch, Entry, Reject, Wait
from .execution import Model, Tree
from .modules import prepare
from .service import Service

if TYPE_CHECKING:
    from typing_extensions import Self

Work = tuple[tuple[Entry, ...], Dispatch]


class Batcher:
    """Batches requests for a model, on a background thread.

    model: a callable from a batch to its outputs (trees of tensors with rows first, see `execution`); a
    `torch.nn.Module` is put into evaluation mode and called in inference mode; or a sequence of such, one an instance.
    """

    def __init__(self, model: Model | Sequence[Model], config: BatcherConfig | None = None) -> None:
        self.config = config or BatcherConfig()
        models = list(model) if isinstance(model, Sequence) else [model] * self.config.instances
        if len(models) != self.config.instances:
            raise ValueError(f"{len(models)} models for {self.config.instances} instances")
        self._service = Service(self.config)
        self._changed = threading.Condition()
        self._work: list[queue.SimpleQueue[Work | None]] = [queue.SimpleQueue() for _ in models]
        self._threads = [threading.Thread(target=self._schedule, name="batcher-scheduler", daemon=True)]
        self._threads += [
            threading.Thread(target=self._serve, args=(i, prepare(one)), name=f"batcher-instance-{i}", daemon=True)
            for i, one in enumerate(models)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, inputs: Tree, *, priority: int = 0, timeout_ns: int = 0) -> Future[Tree]:
        """Queue a request; returns at once.

        The Future gives the rows of the model's outputs that belong to this request, or raises `Oversize`, `QueueFull`,
        `Expired`, `Closed`, or what the model raised for its batch. Cancelled before its batch is formed, the request
        leaves the queue and is never executed. ValueError if the tensors' rows differ.

        priority: a level from 1 (the most urgent); 0, or a level that is not there, is the default one.
        timeout_ns: a queue timeout shorter than the configured one, where that may be overridden; 0: none.
        """
        entry = self._service.entry(inputs, time.monotonic_ns(), priority, timeout_ns)
        if not self._service.known(entry):
            entry.item.answer.forget = lambda: self._forget(entry)
            with self._changed:
                self._service.take(entry)
                self._changed.notify()
        future: Future[Tree] = entry.item.answer
        return future

    def queued(self) -> int:
        """Requests that wait and are in no batch yet."""
        with self._changed:
            return len(self._service.core.queue)

    def statistics(self) -> dict[str, Any]:
        """Return what was counted so far (see `statistics.Statistics`)."""
        return self._service.statistics.snapshot()

    def close(self) -> None:
        """Take no new requests, serve those that are queued, and stop the threads. Safe to call twice."""
        with self._changed:
            self._service.closed = True
            self._service.core.drain()
            self._changed.notify()
        if threading.current_thread() in self._threads:  # a Future's callback: it cannot wait for its own thread
            return
        for thread in self._threads:
            thread.join()

    def __enter__(self) -> Self:
        """Use as `with Batcher(...) as batcher:`."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        """Close."""
        self.close()

    def _forget(self, entry: Entry) -> None:
        with self._changed:
            self._service.forget(entry)
            self._changed.notify()

    def _schedule(self) -> None:
        service, core = self._service, self._service.core
        while True:
            with self._changed:
                decision = core.poll(time.monotonic_ns())
                match decision:
                    case Wait(until_ns):
                        if service.closed and not len(core.queue):
                            break
                        left_ns = None if until_ns is None else until_ns - time.monotonic_ns()
                        if left_ns is None or left_ns > 0:
                            self._changed.wait(None if left_ns is None else left_ns / 1e9)
                    case Dispatch(instance, batch):
                        self._work[instance].put((service.begin(batch), decision))
            if isinstance(decision, Reject):
                service.reject(decision.entries)
        for work in self._work:
            work.put(None)

    def _serve(self, instance: int, model: Model) -> None:
        while (work := self._work[instance].get()) is not None:
            self._service.run(model, *work)
            with self._changed:
                self._service.core.finished(instance)
                self._changed.notify()
