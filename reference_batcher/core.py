"""The dynamic batcher: its decisions, as a state machine without threads and without a clock.

Everything that decides *which* requests run together and *when* is in this file; `request_queue` says who waits in which
order. Nothing here waits, runs a model or reads a clock. Time is an argument, in nanoseconds of any monotonic clock.

How it works. `poll` answers the question "what now?" with one of

    Reject(entries)             these requests waited for longer than their queue timeout, or the batching strategy failed
                                for them: refuse them
    Dispatch(instance, batch)   give this batch to this instance now
    Wait(until_ns)              there is nothing to do before that moment (None: before something happens)

and the shell asks again after each thing that happens: a request arrives (`enqueue`), an instance has run its batch
(`finished`), a moment has come. A batch is always the head of the queue, and no request is skipped: it holds as many
requests as fit into `max_batch_size` rows and have one shape, and as a batching strategy, if there is one, lets join (see
`strategy`). It leaves when an instance is free and one of these holds:

    a preferred size is met     the rows of the head, or of a shorter head of the queue, are a preferred size: the largest
                                such head leaves (without preferred sizes, max_batch_size is the only one)
    it cannot grow              the next request in the queue does not fit, has another shape or is refused company by the
                                strategy; or it would take the rows beyond the largest preferred size, and no preferred
                                size was met
    the delay is over           the *oldest* request in the head was queued max_queue_delay ago or earlier: all of the head
                                leaves, whatever sizes are preferred
    there is no delay           and no preferred size was met
    the queue is draining       the batcher is closing, and no request will come to fill the batch

The delay counts from the arrival of the oldest request, whether it waited for company or for a busy instance. So a batch
that has waited long enough behind a busy instance leaves at once when the instance is free. (Triton:
core/src/dynamic_batch_scheduler.cc, GetDynamicBatch; documented in server/docs/user_guide/batcher.md, "Preferred Batch
Sizes" and "Delayed Batching".)
"""

from __future__ import annotations

import contextlib
from collections import deque

from .config import BatcherConfig
from .decisions import Decision, Dispatch, Entry, Reject, Wait
from .errors import BatcherError, Oversize, QueueFull, StrategyError
from .lookahead import Head, Lookahead
from .request_queue import RequestQueue
from .strategy import BatchStrategy, Hooks

NOTHING = Wait(None)
BUSY = Wait(None, for_instance=True)


class DynamicBatcher:
    """One queue in front of N instances; a `Core`."""

    def __init__(self, config: BatcherConfig, strategy: BatchStrategy | None = None) -> None:
        self.config = config
        self.queue = RequestQueue(config)
        self.free = deque(range(config.instances))
        self.draining = False
        self.hooks = None if strategy is None else Hooks(strategy, config)
        self.lookahead = Lookahead(self.queue, self.hooks.end if self.hooks else None)
        self._preferred = frozenset(config.preferred_batch_size or (config.max_batch_size,))
        self._largest = max(self._preferred)
        self._expires = self.queue.expires

    @property
    def waiting(self) -> int:
        """How many requests are queued."""
        return len(self.queue)

    @property
    def drained(self) -> bool:
        """Whether the queue was draining and is empty."""
        return self.draining and not self.queue

    def enqueue(self, entry: Entry) -> BatcherError | None:
        """Queue a request, or return why it is refused."""
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
        """Note that `instance` is free again."""
        self.free.append(instance)

    def drain(self) -> None:
        """Serve what is queued without waiting for company."""
        self.draining = True

    def poll(self, now_ns: int) -> Decision:
        """Answer the question "what now?"."""
        expired, expiry_ns = self.queue.expire(now_ns)
        if expired:
            return Reject(expired)
        if not self.free and not self._expires:  # a newcomer cannot even bring a timeout with it
            return BUSY
        if self.drained and self.hooks:
            with contextlib.suppress(StrategyError):  # all of that batch were taken back, so nobody is left to be told
                self.lookahead.forget()
            self.hooks.close()
        if not self.free or not self.queue:
            return NOTHING if expiry_ns is None else Wait(expiry_ns)
        try:
            return self._dispatch_or_wait(now_ns, expiry_ns)
        except StrategyError as error:  # the batch that was being formed fails, and no other
            self.lookahead.forget()
            return Reject(tuple(entry for entry in error.batch if self.queue.remove(entry)), error=error)

    def _dispatch_or_wait(self, now_ns: int, expiry_ns: int | None) -> Decision:
        head = self._head()
        count, due_ns = self._departure(head, now_ns)
        if now_ns < due_ns and not self.draining:
            return Wait(due_ns if expiry_ns is None else min(due_ns, expiry_ns))
        batch = tuple(head.batch[:count])
        self.lookahead.forget()
        self.queue.take(batch)
        return Dispatch(self.free.popleft(), batch)

    def _head(self) -> Head:
        """Return the head of the queue: as many requests as can be one batch."""
        head, behind = self.lookahead.resume()  # an empty head and the whole queue, or where an earlier look has ended
        batch = head.batch
        for entry in behind:
            larger = head.rows + entry.rows
            if batch and larger > self._largest and not head.ready:
                head.ready = len(batch)
            if batch and (larger > self.config.max_batch_size or entry.shape != batch[0].shape):
                head.grows = False
                break
            joins = not self.hooks or self.hooks.include(entry, head)
            if not joins and batch:
                head.grows = False
                break
            batch.append(entry)
            head.rows, head.oldest_ns = larger, min(head.oldest_ns, entry.queued_ns)
            if larger in self._preferred:
                head.ready = len(batch)
            if not joins:  # refused even alone, so it is alone: the strategy's record may know nothing of it
                head.grows = False
                break
        return head

    def _departure(self, head: Head, now_ns: int) -> tuple[int, int]:
        """Return how many requests of the head leave, and when (now, if not later)."""
        due_ns = head.oldest_ns + self.config.max_queue_delay_ns
        late = self.config.max_queue_delay_ns > 0 and now_ns >= due_ns
        if head.ready and not late:
            return head.ready, now_ns
        return len(head.batch), due_ns if head.grows and head.rows < self._largest else now_ns
