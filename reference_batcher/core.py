"""The decisions of a dynamic batcher, as a state machine without threads and without a clock.

House rules of this file: everything that decides *which* requests run together and *when* lives here, and in
`request_queue` who waits in which order; nothing here waits, executes, or reads a clock; time is an argument, in
nanoseconds of any monotonic clock.

How it works. `poll` answers one question, "what now?", with one of

    Reject(entries)         these waited for longer than their queue timeout: refuse them
    Dispatch(instance, ..)  give this batch to this instance now
    Wait(until_ns)          nothing to do before that moment (None: before something happens)

and the shell asks again after each thing that happens: a request arrives (`enqueue`), an instance is done (`finished`), a
moment has come. A batch is always the head of the queue, never skipping a request: as many as fit into `max_batch_size`
rows and have one shape. It leaves when an instance is free and one of these holds:

    a preferred size        its rows, or those of a shorter head of the queue, are a preferred size: the largest such head
                            leaves (no preferred sizes: max_batch_size is the only one)
    it cannot grow          the next request in the queue does not fit, or has another shape; or it would take the rows
                            beyond the largest preferred size while no preferred size was met
    the delay is over       the *oldest* request in it was queued max_queue_delay or longer ago: all of it leaves,
                            whatever size is preferred
    there is no delay       and no preferred size was met
    the queue is draining   the batcher is closing: nothing will come to fill it

The delay counts from the arrival of the oldest request, whether it waited for company or for a busy instance, so a batch
that waited long enough behind a busy instance leaves at once. (Triton: core/src/dynamic_batch_scheduler.cc,
GetDynamicBatch; documented in server/docs/user_guide/batcher.md, "Preferred Batch Sizes" and "Delayed Batching".)
"""

from __future__ import annotations

import itertools
from collections import deque

from .config import BatcherConfig
from .decisions import Decision, Dispatch, Entry, Reject, Wait
from .errors import BatcherError, Oversize, QueueFull
from .request_queue import RequestQueue

NOTHING = Wait(None)


class DynamicBatcher:
    """One queue in front of N instances."""

    def __init__(self, config: BatcherConfig) -> None:
        self.config = config
        self.queue = RequestQueue(config)
        self.free = deque(range(config.instances))
        self.draining = False
        self._preferred = frozenset(config.preferred_batch_size or (config.max_batch_size,))
        self._largest = max(self._preferred)
        self._numbers = itertools.count()
        self._seen: tuple[list[Entry], int, int] = ([], 0, 0)  # the head as `_head` left it: batch, rows, best

    def enqueue(self, entry: Entry) -> BatcherError | None:
        """Take a request; or return why not, and it is never seen again."""
        limit, name = self.config.max_batch_size, self.config.name
        if entry.rows < 1:
            return Oversize("a request needs at least 1 row")
        if entry.rows > limit:
            return Oversize(f"request batch-size {entry.rows} must be <= {limit} (max_batch_size) for '{name}'")
        if waiting := self.queue.full_for(entry):
            return QueueFull(f"exceeds maximum queue size: {waiting} requests wait for '{name}'")
        self.queue.push(entry)
        return None

    def cancel(self, entry: Entry) -> bool:
        """Forget a request; False if it is in a batch already, or gone."""
        return self.queue.remove(entry)

    def finished(self, instance: int) -> None:
        """Say that `instance` is free again."""
        self.free.append(instance)

    def drain(self) -> None:
        """Serve what is queued without waiting for company."""
        self.draining = True

    def number(self) -> int:
        """Take the next number in the order of batches (for an answer that needs none)."""
        return next(self._numbers)

    def poll(self, now_ns: int) -> Decision:
        """Answer "what now?"."""
        if expired := self.queue.take_expired(now_ns):
            return Reject(expired)
        expiry_ns = self.queue.next_expiry_ns()
        if not self.free or not self.queue:
            return NOTHING if expiry_ns is None else Wait(expiry_ns)
        batch, due_ns = self._head(now_ns)
        if now_ns < due_ns and not self.draining:
            return Wait(due_ns if expiry_ns is None else min(due_ns, expiry_ns))
        self.queue.take(batch)
        self._seen = ([], 0, 0)
        return Dispatch(self.free.popleft(), batch, self.number())

    def _head(self, now_ns: int) -> tuple[tuple[Entry, ...], int]:
        """The batch at the head of the queue, and when it may leave (now, if not later)."""
        entries, (batch, rows, best), grows = iter(self.queue), self._seen, True
        if batch and [*itertools.islice(entries, len(batch))] != batch:  # another head than at the last look
            entries, (batch, rows, best) = iter(self.queue), ([], 0, 0)
        for entry in entries:  # best: requests of the head that leaves without waiting
            larger = rows + entry.rows
            if batch and larger > self._largest and not best:
                best = len(batch)
            if batch and (larger > self.config.max_batch_size or entry.shape != batch[0].shape):
                grows = False
                break
            batch.append(entry)
            rows = larger
            if rows in self._preferred:
                best = len(batch)
        self._seen = (batch, rows, best)
        due_ns = min(entry.queued_ns for entry in batch) + self.config.max_queue_delay_ns
        late = self.config.max_queue_delay_ns > 0 and now_ns >= due_ns
        if best and not late:
            return tuple(batch[:best]), now_ns
        return tuple(batch), due_ns if grows and rows < self._largest else now_ns
