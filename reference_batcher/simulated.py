"""What a simulation leaves behind, and its general path: the real core in a bare event loop."""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .config import DELAY, BatcherConfig
from .core import DynamicBatcher
from .decisions import Dispatch, Entry, Reject
from .ordering import Ordering

NEVER = int(np.iinfo(np.int64).max)
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Simulated:
    """What became of n requests, in k batches (in the order in which they were formed).

    due_ns, start_ns, done_ns: int64 [n], arrival, entry into the model, answer; NEVER for what was not answered.
    sizes: int64 [k], rows of each batch; batch_start_ns: int64 [k]. refused: bool [n], never queued (queue full, too many
    rows). expired: bool [n], refused after its queue timeout.
    """

    due_ns: Ints
    start_ns: Ints
    done_ns: Ints
    sizes: Ints
    batch_start_ns: Ints
    refused: Mask
    expired: Mask

    @property
    def answered(self) -> Mask:
        """Who got an answer, bool [n]."""
        return self.done_ns < NEVER

    @property
    def latency_ns(self) -> Ints:
        """Arrival to answer, int64 [n]; NEVER for what was not answered."""
        return np.where(self.answered, self.done_ns - self.due_ns, NEVER)

    @property
    def throughput(self) -> float:
        """Answers per second, from the first arrival to the last answer; 0.0 if there is none."""
        done = self.done_ns[self.answered]
        span_ns = int(done.max() - self.due_ns.min()) if done.size else 0
        return done.size / span_ns * 1e9 if span_ns else 0.0

    @property
    def mean_batch(self) -> float:
        """Rows of a batch, on average; 0.0 if there is none."""
        return float(self.sizes.mean()) if self.sizes.size else 0.0


class Line:
    """The core, a heap of the batches that are in the model, and the moment at which the core wants to be asked again.

    An arrival asks the core only if what it says can have changed: never while all instances are busy, nor while the queue
    waits for company and holds fewer rows than any preferred size that it has not passed yet.
    """

    def __init__(
        self,
        config: BatcherConfig,
        tau_ns: Sequence[int],
        count: int,
        rows: Sequence[int] | None = None,
        priorities: Sequence[int] | None = None,
        timeouts_ns: Sequence[int] | None = None,
        *,
        answers_first: bool = False,
    ) -> None:
        self.now_ns = 0
        self.next_ns = NEVER  # when the next thing happens
        self.settled: Callable[[int], None] = lambda _count: None  # is told how many requests were settled at once
        self._answers_first = answers_first
        self._core = DynamicBatcher(config)
        self._tau_ns = [int(ns) for ns in tau_ns]
        self._rows = rows or [1] * count
        self._priorities = priorities or [0] * count
        self._timeouts_ns = timeouts_ns or [0] * count
        self._wake_ns = NEVER
        self._running: list[tuple[int, int, int, int]] = []  # done, number of the batch, instance, requests
        self._waiting = 0  # rows in the queue
        self._ask_from = 0  # rows in the queue from which the core has to be asked
        self._preferred = sorted(config.preferred_batch_size or (config.max_batch_size,))
        policies = [config.policy(level) for level in range(1, config.priority_levels + 1)] or [config.default_queue_policy]
        limits = [policy.queue_timeout_ns for policy in policies if policy.queue_timeout_ns]
        self._timed = bool(limits)
        self._shortest_ns = min([*limits, *(ns for ns in self._timeouts_ns if ns > 0)], default=NEVER)
        shuffled = config.priority_levels or (self._timed and any(one.timeout_action == DELAY for one in policies))
        # The sums of rows that the core sees from the head: at the tail, or with rows of 1, a newcomer adds one to them.
        self._single = all(one == 1 for one in self._rows)
        self._one_more = self._single or not shuffled
        self._ordering = Ordering() if config.preserve_ordering else None
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._sizes: list[int] = []
        self._counts: list[int] = []
        self._order: list[int] = []
        self._expired: list[int] = []
        self._refused: list[int] = []

    def arrive(self, number: int, now_ns: int) -> None:
        """Queue a request; everything that ends by now has happened."""
        self.now_ns = now_ns
        rows = self._rows[number]
        core = self._core
        if core.enqueue(Entry(rows, now_ns, number, self._priorities[number], self._timeouts_ns[number])) is not None:
            self._refused.append(number)
            self.settled(1)
            return
        self._waiting += rows
        if core.free and self._waiting >= self._ask_from:
            self._ask()
        elif now_ns + self._shortest_ns < self._wake_ns and self._timed:  # its time can be over before all others'
            self._wake_at(core.queue.next_expiry_ns(), self._wake_ns)

    def until(self, when_ns: int) -> None:
        """Let everything happen that ends up to and including `when_ns`."""
        while self.next_ns <= when_ns:
            self.step()

    def step(self) -> None:
        """Let the next thing happen."""
        self.now_ns = self.next_ns
        running = self._running
        if running and running[0][0] == self.now_ns:
            _, number, instance, count = heapq.heappop(running)
            if self._answers_first:
                self._give(number, count)
            self._core.finished(instance)
            self._ask()
            if not self._answers_first:
                self._give(number, count)
        else:
            self._ask()

    def _ask(self) -> None:
        core, now_ns = self._core, self.now_ns
        while True:
            decision = core.poll(now_ns)
            if isinstance(decision, Dispatch):
                self._form(decision, now_ns)
            elif isinstance(decision, Reject):
                self._waiting -= sum([entry.rows for entry in decision.entries])
                self._expired += [entry.item for entry in decision.entries]
                self.settled(len(decision.entries))
            else:
                self._wait(decision.until_ns)
                return
            if not core.free:  # then the core says no more than when the next request's time is over
                self._wait(core.queue.next_expiry_ns() if self._timed else None)
                return

    def _form(self, decision: Dispatch, now_ns: int) -> None:
        batch = decision.batch
        count = len(batch)
        size = count if self._single else sum([entry.rows for entry in batch])
        end_ns = now_ns + self._tau_ns[size]
        heapq.heappush(self._running, (end_ns, decision.number, decision.instance, count))
        self._waiting -= size
        self._order += [entry.item for entry in batch]
        self._counts.append(count)
        self._sizes.append(size)
        self._starts.append(now_ns)
        self._ends.append(end_ns)

    def _wait(self, until_ns: int | None) -> None:
        preferred = self._preferred
        if not self._waiting:
            self._ask_from = 0
        elif self._one_more:
            self._ask_from = preferred[min(bisect_right(preferred, self._waiting), len(preferred) - 1)]
        else:
            self._ask_from = preferred[0]
        self._wake_at(until_ns, NEVER)

    def _wake_at(self, one_ns: int | None, other_ns: int) -> None:
        self._wake_ns = other_ns if one_ns is None else min(one_ns, other_ns)
        self.next_ns = min(self._wake_ns, self._running[0][0]) if self._running else self._wake_ns

    def _give(self, number: int, count: int) -> None:
        if self._ordering is None:
            self.settled(count)
        else:
            self._ordering.done(number, lambda: self.settled(count))

    def result(self, due_ns: Ints) -> Simulated:
        """Return what became of all."""
        formed = (np.asarray(one, dtype=np.int64) for one in (self._starts, self._ends, self._sizes, self._counts))
        order = np.asarray(self._order, dtype=np.int64)
        return assemble(self._core.config, due_ns, order, *formed, refused=self._refused, expired=self._expired)


def assemble(
    config: BatcherConfig,
    due_ns: Ints,
    order: Ints,
    starts: Ints,
    ends: Ints,
    sizes: Ints,
    counts: Ints,
    *,
    refused: Sequence[int] = (),
    expired: Sequence[int] = (),
) -> Simulated:
    """Spread k batches over their requests: `order` names them batch by batch, `counts` says how many each batch has."""
    if config.preserve_ordering:
        ends = np.maximum.accumulate(ends)
    start_ns, done_ns = np.full(due_ns.size, NEVER), np.full(due_ns.size, NEVER)
    start_ns[order], done_ns[order] = np.repeat(starts, counts), np.repeat(ends, counts)
    masks = np.zeros((2, due_ns.size), dtype=np.bool_)
    masks[0, list(refused)] = True
    masks[1, list(expired)] = True
    return Simulated(due_ns, start_ns, done_ns, sizes, starts, *masks)
