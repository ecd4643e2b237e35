"""The threaded shell: what users import. Each instance of the model runs on a thread of its own.

Whoever makes something happen (a sender that queues a request, an instance that is done, the timer) asks the core "what
now?" on its own thread and under the one lock, and passes on what the core says. So a request that finds an idle instance
wakes one thread, and a busy instance finds its next batch without waking any. Two more threads do what must not be done
there:

    the timer               asks the core again when the moment has come that it named
    the completion thread   settles Futures, which may run a caller's callbacks

The completion thread settles requests that were refused, and answers a batch whose instance has its next batch already, so
that the model need not wait until the last request is answered. It gets such a batch when the model has begun the next one
and not before: it would take the interpreter away from the thread that puts that batch together. An instance answers by
itself if it has nothing else to do, or if its model is so brief that handing over would take longer.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .config import BatcherConfig
from .decisions import Dispatch, Entry, Reject, Wait
from .execution import Model, Tree
from .modules import prepare
from .protocol import Core
from .service import Run, Service
from .strategy import BatchStrategy

if TYPE_CHECKING:
    from typing_extensions import Self

ANSWER_NS = 10_000  # about what it takes to answer a request, with its callback; see `_serve`


class Batcher:
    """Batches requests for a model, on background threads.

    model: a callable from a batch to its outputs (trees of tensors with rows first, see `execution`); a
    `torch.nn.Module` is put into evaluation mode and called in inference mode; or a sequence of such, one for each instance.

    threads: how many threads torch may use on each instance's thread (`torch.set_num_threads`); 0 leaves that as it is. The
    setting counts only on the thread that makes it, so one that was made before the batcher does not count for the batcher:
    each instance then uses as many OpenMP threads as the machine has processors, and where those are busy a batch can take a
    hundred times as long. With N instances, processors // N is the most that makes sense. (OMP_NUM_THREADS and
    MKL_NUM_THREADS, set before torch is imported, do the same for the whole process.)

    core: a fresh core to run, in place of the one that the configuration asks for (see `protocol`).

    strategy: decides who joins a batch (custom batching; see `strategy`). TypeError if it lacks a hook.
    """

    def __init__(
        self,
        model: Model | Sequence[Model],
        config: BatcherConfig | None = None,
        *,
        threads: int = 0,
        core: Core | None = None,
        strategy: BatchStrategy | None = None,
    ) -> None:
        self.config = config or BatcherConfig()
        models = list(model) if isinstance(model, Sequence) else [model] * self.config.instances
        if len(models) != self.config.instances:
            raise ValueError(f"{len(models)} models for {self.config.instances} instances")
        self._service = Service(self.config, core, strategy)
        self._core = self._service.core
        self._lock = threading.RLock()  # a finalizer that runs while it is held may cancel a request
        self._earlier = threading.Condition(self._lock)  # the timer has to wake earlier than it knows
        self._caught_up = threading.Condition(self._lock)  # the completion thread has settled something
        self._wake_ns: int | None = None
        self._unsettled = 0  # how much the completion thread has before it
        self._running = len(models)
        self._work: list[queue.SimpleQueue[Run | None]] = [queue.SimpleQueue() for _ in models]
        self._completions: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._watch_time, name="batcher-timer", daemon=True),
            threading.Thread(target=self._complete, name="batcher-completion", daemon=True),
        ]
        self._threads += [
            threading.Thread(target=self._serve, args=(i, one, threads), name=f"batcher-instance-{i}", daemon=True)
            for i, one in enumerate(map(prepare, models))
        ]
        for thread in self._threads:
            thread.start()

    def submit(
        self,
        inputs: Tree,
        *,
        priority: int = 0,
        timeout_ns: int = 0,
        sequence: int | str = 0,
        start: bool = False,
        end: bool = False,
    ) -> Future[Tree]:
        """Queue a request; returns at once.

        The Future gives the rows of the model's outputs that belong to this request, or raises `Oversize`, `QueueFull`,
        `Expired`, `StrategyError`, `Closed`, or what the model raised for its batch. If it is cancelled before its batch is
        formed, the request leaves the queue and is never executed. ValueError if the tensors' rows differ.

        priority: a level from 1 (the most urgent); 0, or a level that does not exist, means the default one.
        timeout_ns: a queue timeout shorter than the configured one, where that may be overridden; 0: none. Of sequences:
        how long the sequence may wait for a slot.
        sequence: the correlation ID, if the configuration says that requests form sequences. start, end: it is the first or
        the last request of its sequence.
        """
        now_ns = time.monotonic_ns()
        entry = self._service.entry(inputs, now_ns, priority, timeout_ns, sequence, start=start, end=end)
        if not self._service.answer_from_cache(entry):
            entry.item.answer.forget = lambda: self._forget(entry)
            with self._lock:
                self._service.take(entry)
                self._pump()
        future: Future[Tree] = entry.item.answer
        return future

    def queued(self) -> int:
        """Return how many requests wait and have not been in a batch yet."""
        with self._lock:
            return self._core.waiting

    def statistics(self) -> dict[str, Any]:
        """Return what was counted so far (see `statistics.Statistics`)."""
        return self._service.statistics.snapshot()

    def close(self) -> None:
        """Take no new requests, serve those that are queued, and stop the threads. It is safe to call this twice."""
        with self._lock:
            self._service.close()
            self._pump()
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
        with self._lock:
            self._service.forget(entry)
            self._pump()

    def _pump(self) -> None:
        """Do what the core says, until it says that there is nothing to do (under the lock)."""
        service, core = self._service, self._core
        while True:
            decision = core.poll(time.monotonic_ns())
            match decision:
                case Wait():
                    break
                case Dispatch(instance):
                    self._work[instance].put(service.begin(decision))
                case Reject():
                    self._unsettled += 1
                    self._completions.put(partial(service.reject, decision))
        if (until_ns := decision.until_ns) is not None and (self._wake_ns is None or until_ns < self._wake_ns):
            self._wake_ns = until_ns
            self._earlier.notify()
        if service.closed and core.drained:
            for work in self._work:
                work.put(None)

    def _watch_time(self) -> None:
        with self._lock:
            while self._running:
                left_ns = None if self._wake_ns is None else self._wake_ns - time.monotonic_ns()
                if left_ns is None or left_ns > 0:
                    self._earlier.wait(None if left_ns is None else left_ns / 1e9)
                else:
                    self._wake_ns = None
                    self._pump()

    def _serve(self, instance: int, model: Model, threads: int) -> None:
        _use(threads)
        work = self._work[instance]
        kept: list[Callable[[], None]] = []  # the last batch's answers, until the model has the next batch

        def hand_over() -> None:
            while kept:
                self._completions.put(kept.pop())

        def call(inputs: Tree) -> Tree:
            hand_over()
            return model(inputs)

        while (run := work.get()) is not None:
            start_ns = time.monotonic_ns()
            answer = self._service.execute(call, run)
            # a model that is quicker than its answers gains nothing: it and the completion thread would only take turns
            brief = time.monotonic_ns() - start_ns < len(run.batch) * ANSWER_NS
            hand_over()  # the model was not called: all requests were cancelled, or their rows do not fit together
            with self._lock:
                while self._unsettled > self.config.instances:  # callbacks that are slower than the model hold it up
                    self._caught_up.wait()
                self._core.finished(instance)
                self._pump()
                here = not self._unsettled and (brief or work.empty())  # answers do not overtake each other
                self._unsettled += not here
            if here:
                answer()
            else:
                kept.append(answer)
            if work.empty():
                hand_over()
            del run, answer  # an idle thread keeps nobody's tensors alive
        hand_over()
        self._end()

    def _complete(self) -> None:
        while (settle := self._completions.get()) is not None:
            settle()
            del settle
            with self._lock:
                self._unsettled -= 1
                self._caught_up.notify_all()

    def _end(self) -> None:
        """Note that an instance has ended; the last one ends the other threads."""
        with self._lock:
            self._running -= 1
            self._earlier.notify()
        if not self._running:
            self._completions.put(None)


def _use(threads: int) -> None:
    """Let torch use this many threads on the calling thread; 0: as many as it has."""
    if threads:
        import torch

        torch.set_num_threads(threads)
