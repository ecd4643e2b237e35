"""The simulator's shell: a core in a bare event loop, without Futures, tensors and answers."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

import numpy as np

from .decisions import Dispatch, Entry, Reject
from .ordering import Ordering
from .protocol import Core
from .simulated_run import NEVER, Ints, SimulatedRun, simulated_run


class EventLoop:
    """Runs a core on entries that are numbered by their `item`, from 0. A batch of b rows takes tau_ns[b].

    ordering: answers are held back until all earlier batches have been answered (`preserve_ordering`). answers_first:
    requests are settled before the instance of their batch is free, not after.
    """

    def __init__(self, core: Core, tau_ns: Sequence[int], *, ordering: bool = False, answers_first: bool = False) -> None:
        self.now_ns = 0
        self.next_ns = NEVER  # when the next thing happens
        self.settled: Callable[[int], None] = lambda _count: None  # is called with how many requests were settled at once
        self._core = core
        self._for_instance = False  # the core said that no arrival changes its answer
        self._tau_ns = [int(ns) for ns in tau_ns]
        self._ordered = ordering
        self._ordering = Ordering() if ordering else None
        self._answers_first = answers_first
        self._running: list[tuple[int, int, int, int]] = []  # heap: done, number of the batch, instance, how many it answers
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._sizes: list[int] = []
        self._counts: list[int] = []
        self._order: list[int] = []
        self._refused: list[int] = []
        self._expired: list[int] = []

    def arrive(self, entry: Entry) -> None:
        """Queue a request at its `queued_ns`; whatever happens up to that moment has happened."""
        self.now_ns = entry.queued_ns
        if self._core.enqueue(entry) is None:
            if not self._for_instance:
                self._ask()
        else:
            self._refused.append(entry.item)
            self.settled(1)

    def until(self, when_ns: int) -> None:
        """Let everything happen up to and including `when_ns`."""
        while self.next_ns <= when_ns:
            self._step()

    def _step(self) -> None:
        """Let the next thing happen: a batch is done, or the moment has come that the core named."""
        self.now_ns = self.next_ns
        running = self._running
        if not running or running[0][0] > self.now_ns:
            self._ask()
            return
        _, number, instance, count = heapq.heappop(running)
        if self._answers_first:
            self._answer(number, count)
        self._core.finished(instance)
        self._ask()
        if not self._answers_first:
            self._answer(number, count)

    def _ask(self) -> None:
        """Do what the core says, until it says that there is nothing to do."""
        while True:
            decision = self._core.poll(self.now_ns)
            if isinstance(decision, Dispatch):
                self._start(decision)
            elif isinstance(decision, Reject):
                self._expired += [entry.item for entry in decision.entries]
                self.settled(len(decision.entries))
            else:
                break
        self._for_instance = decision.for_instance
        wake_ns = NEVER if decision.until_ns is None else decision.until_ns
        self.next_ns = min(wake_ns, self._running[0][0]) if self._running else wake_ns

    def _start(self, dispatch: Dispatch) -> None:
        batch = dispatch.batch
        rows = sum([entry.rows for entry in batch])
        end_ns = self.now_ns + self._tau_ns[rows]
        heapq.heappush(self._running, (end_ns, len(self._sizes), dispatch.instance, len(batch) - len(dispatch.staying)))
        self._order += [entry.item for entry in batch]
        self._counts.append(len(batch))
        self._sizes.append(rows)
        self._starts.append(self.now_ns)
        self._ends.append(end_ns)

    def _answer(self, number: int, count: int) -> None:
        if self._ordering is None:
            self.settled(count)
        else:
            self._ordering.done(number, lambda: self.settled(count))

    def result(self, due_ns: Ints) -> SimulatedRun:
        """Return what has become of all requests; due_ns: int64 [n], when each arrived."""
        lists = (self._order, self._starts, self._ends, self._sizes, self._counts)
        batches = (np.asarray(one, dtype=np.int64) for one in lists)
        return simulated_run(due_ns, *batches, ordered=self._ordered, refused=self._refused, expired=self._expired)
