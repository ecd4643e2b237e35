"""The decisions of a dynamic batcher, as a state machine without threads and without a clock.

House rules of this file: everything that decides *which* requests run together and *when* lives here; nothing here waits,
executes, or reads a clock; time is an argument, in nanoseconds of any monotonic clock.

How it works. Requests stand in one queue, first come first served. `poll` answers one question, "what now?", with one of

    Reject(entries)         these waited for longer than their queue timeout: refuse them
    Dispatch(instance, ..)  give this batch to this instance now
    Wait(until_ns)          nothing to do before that moment (None: before something happens)

and the shell asks again after each thing that happens: a request arrives (`enqueue`), an instance is done (`finished`), a
moment has come. A batch is always the head of the queue: as many requests as fit into `max_batch_size` rows, never
skipping one that does not fit. It leaves when an instance is free and one of these holds:

    it is full              the next request in the queue would not fit, or the rows are exactly max_batch_size
    the delay is over       the *oldest* request in it was queued max_queue_delay or longer ago
    the queue is draining   the batcher is closing: nothing will come to fill it

The delay counts from the arrival of the oldest request, whether it waited for company or for a busy instance, so a batch
that waited long enough behind a busy instance leaves at once. (Triton: core/src/dynamic_batch_scheduler.cc,
GetDynamicBatch; documented in server/docs/user_guide/batcher.md, "Delayed Batching".)
"""

from __future__ import annotations

from collections import deque
from itertools import takewhile

from .config import BatcherConfig
from .decisions import Decision, Dispatch, Entry, Reject, Wait


class DynamicBatcher:
    """One queue in front of N instances."""

    def __init__(self, config: BatcherConfig) -> None:
        self.config = config
        self.queue: deque[Entry] = deque()
        self.free = deque(range(config.instances))
        self.draining = False

    def refusal(self, rows: int) -> str | None:
        """Say why a request of this many rows can never be served, or None."""
        limit = self.config.max_batch_size
        if rows < 1:
            return "a request needs at least 1 row"
        if rows > limit:
            return f"request batch-size {rows} must be <= {limit} (max_batch_size) for '{self.config.name}'"
        return None

    def enqueue(self, entry: Entry) -> None:
        """Take a request for which `refusal` said None."""
        self.queue.append(entry)

    def finished(self, instance: int) -> None:
        """Say that `instance` is free again."""
        self.free.append(instance)

    def drain(self) -> None:
        """Serve what is queued without waiting for company."""
        self.draining = True

    def poll(self, now_ns: int) -> Decision:
        """Answer "what now?"."""
        if expired := self._take_expired(now_ns):
            return Reject(expired)
        if not self.queue:
            return Wait(None)
        if not self.free:
            return Wait(self._next_expiry_ns())
        batch, full = self._head()
        due_ns = batch[0].queued_ns + self.config.max_queue_delay_ns
        if full or self.draining or now_ns >= due_ns:
            for _ in batch:
                self.queue.popleft()
            return Dispatch(self.free.popleft(), batch)
        return Wait(min(due_ns, self._next_expiry_ns() or due_ns))

    def _head(self) -> tuple[tuple[Entry, ...], bool]:
        """The requests at the head of the queue that fit into one batch, and whether the batch is full."""
        batch: list[Entry] = []
        rows = 0
        for entry in self.queue:
            if rows + entry.rows > self.config.max_batch_size:
                return tuple(batch), True
            batch.append(entry)
            rows += entry.rows
        return tuple(batch), rows == self.config.max_batch_size

    def _take_expired(self, now_ns: int) -> tuple[Entry, ...]:
        """Remove and return what waited for longer than the queue timeout: a prefix, as the timeout is one for all."""
        timeout_ns = self.config.queue_timeout_ns
        if not timeout_ns:
            return ()
        expired = tuple(takewhile(lambda entry: now_ns > entry.queued_ns + timeout_ns, self.queue))
        for _ in expired:
            self.queue.popleft()
        return expired

    def _next_expiry_ns(self) -> int | None:
        """The first moment at which `_take_expired` would return something."""
        if not self.queue or not self.config.queue_timeout_ns:
            return None
        return self.queue[0].queued_ns + self.config.queue_timeout_ns + 1
