"""The threaded shell: what users import. A scheduler thread asks the core; one thread an instance runs the model."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from types import TracebackType
from typing import TYPE_CHECKING

from . import execution
from .config import BatcherConfig
from .core import DynamicBatcher
from .decisions import Dispatch, Entry, Reject, Wait
from .errors import Closed, Oversize
from .execution import Model, Tree
from .modules import prepare

if TYPE_CHECKING:
    from typing_extensions import Self


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
        self._core = DynamicBatcher(self.config)
        self._changed = threading.Condition()
        self._closed = False
        self._work: list[queue.SimpleQueue[tuple[Entry, ...] | None]] = [queue.SimpleQueue() for _ in models]
        self._threads = [threading.Thread(target=self._schedule, name="batcher-scheduler", daemon=True)]
        self._threads += [
            threading.Thread(target=self._serve, args=(i, prepare(one)), name=f"batcher-instance-{i}", daemon=True)
            for i, one in enumerate(models)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, inputs: Tree) -> Future[Tree]:
        """Queue a request; returns at once.

        The Future gives the rows of the model's outputs that belong to this request, or raises `Oversize`, `Expired`,
        `Closed`, or what the model raised for its batch. ValueError if the tensors' rows differ.
        """
        rows = execution.rows_of(inputs)
        item = execution.new_item(inputs)
        with self._changed:
            if self._closed:
                item[1].set_exception(Closed("the batcher is closed and takes no new requests"))
            elif why := self._core.refusal(rows):
                item[1].set_exception(Oversize(why))
            else:
                self._core.enqueue(Entry(rows, time.monotonic_ns(), item))
                self._changed.notify()
        return item[1]

    def queued(self) -> int:
        """Requests that wait and are in no batch yet."""
        with self._changed:
            return len(self._core.queue)

    def close(self) -> None:
        """Take no new requests, serve those that are queued, and stop the threads. Safe to call twice."""
        with self._changed:
            self._closed = True
            self._core.drain()
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

    def _schedule(self) -> None:
        while True:
            with self._changed:
                decision = self._core.poll(time.monotonic_ns())
                if isinstance(decision, Wait):
                    if self._closed and not self._core.queue:
                        break
                    left_ns = None if decision.until_ns is None else decision.until_ns - time.monotonic_ns()
                    if left_ns is None or left_ns > 0:
                        self._changed.wait(None if left_ns is None else left_ns / 1e9)
                    continue
            match decision:
                case Dispatch(instance, batch):
                    self._work[instance].put(batch)
                case Reject(entries):
                    execution.reject(entries)
        for work in self._work:
            work.put(None)

    def _serve(self, instance: int, model: Model) -> None:
        while (batch := self._work[instance].get()) is not None:
            execution.run(model, batch)
            with self._changed:
                self._core.finished(instance)
                self._changed.notify()
