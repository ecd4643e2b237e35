"""The stealing pool with one fault each, as trackers of other software report them."""

from __future__ import annotations

import threading
import time
from typing import Any

from batchproof.suites.selftest.strangers.stealing import Full, Job, Ring, Stealing, TooLarge


class GrowsWrong(Stealing):
    """A ring that grows after it has wrapped keeps its slots where they were, so that the oldest jobs come last."""

    class Wrong(Ring):
        """Copies the slots, not the jobs in their order."""

        def grow(self) -> None:
            """Make room for twice as many."""
            self.head, self.tail = 0, len(self.slots)
            self.slots = self.slots + [None] * len(self.slots)

    def ring(self) -> Ring:
        """Return such a ring."""
        return self.Wrong()


class NeverRested(Stealing):
    """The nap of an idle worker grows up to a quarter of a second, and finding work does not make it short again."""

    def work(self, me: int) -> None:
        """Take batches; the nap only ever grows."""
        nap = 0.0002
        while not self.closed or any(len(ring) for ring in self.rings):
            batch = self.take(self.rings[me])
            batch = batch or self.steal(me)
            if batch:
                self.busy[me] = 1
                self.execute(batch)
                self.busy[me] = 0
            else:
                time.sleep(nap)
                nap = min(1.1 * nap, 0.25)


class DiesOfCancel(Stealing):
    """A request that is cancelled while it runs ends its worker, because nobody checks before its answer is set."""

    def take(self, ring: Ring) -> list[Job]:
        """Take a batch without marking its jobs as running."""
        with ring.lock:
            self.sweep(ring)
            first = ring.peek()
            due = first is not None and (self.closed or time.monotonic() - first.since >= self.delay_s)
            if first is None or not (due or self.full(ring)):
                return []
            batch: list[Job] = []
            while (job := ring.peek()) is not None and sum(one.rows for one in batch) + job.rows <= self.max_batch:
                batch.append(ring.pop())
            return batch


class Restarted(Stealing):
    """A thief takes half of a ring into its own, and what it has taken waits anew: for the delay and for the timeout."""

    def steal(self, me: int) -> list[Job]:
        """Move half of the longest ring."""
        victim, mine = max(self.rings, key=len), self.rings[me]
        with victim.lock, mine.lock:
            for _ in range(0 if victim is mine else (len(victim) + 1) // 2):
                job = victim.pop()
                job.since = time.monotonic()
                mine.push(job)
        return []


class WrapsAround(Stealing):
    """The ends of a ring are numbers of eleven bits, and a ring whose tail has wrapped looks empty."""

    class Wrapped(Ring):
        """Counts up to 2047."""

        def __init__(self) -> None:
            super().__init__(2048)

        def __len__(self) -> int:
            return max(0, self.tail - self.head)

        def push(self, job: Job) -> None:
            """Put a job at the tail."""
            self.slots[self.tail] = job
            self.tail = (self.tail + 1) % 2048

        def pop(self) -> Job:
            """Take the job at the head."""
            job = self.slots[self.head]
            self.head = (self.head + 1) % 2048
            return job  # type: ignore[no-any-return]

    def ring(self) -> Ring:
        """Return such a ring."""
        return self.Wrapped()


class TakenTwice(Stealing):
    """A thief that takes the only job of a ring does not take it out, and so its owner runs it again."""

    def steal(self, me: int) -> list[Job]:
        """Steal, and leave a single job where it is."""
        victim = max(self.rings, key=len)
        if victim is self.rings[me] or len(victim) != 1:
            return super().steal(me)
        with victim.lock:
            job = victim.peek()
            if batch := self.take(victim):
                victim.push(job)
            return batch

    def sweep(self, ring: Ring) -> None:
        """Look at nothing that runs already."""
        job = ring.peek()
        if job is None or not (job.future.running() or job.future.done()):
            super().sweep(ring)

    def take(self, ring: Ring) -> list[Job]:
        """Take a batch, also one that runs elsewhere."""
        with ring.lock:
            job = ring.peek()
            if job is not None and not job.future.cancelled() and (job.future.running() or job.future.done()):
                return [ring.pop()] if threading.current_thread() is self.threads[self.rings.index(ring)] else []
        return super().take(ring)

    def answer(self, job: Job, answer: Any) -> None:
        """Give a job its answer, once."""
        if not job.future.done():
            super().answer(job, answer)


class OneMore(Stealing):
    """The queue limit lets one more wait than it says."""

    def submit(self, tensor: Any, serial: int, queued: Any = lambda: None) -> Any:
        """Queue a request if no more than the limit wait."""
        if len(tensor) > self.max_batch:
            raise TooLarge(f"{len(tensor)} rows, and a batch has at most {self.max_batch}")
        with self.lock:
            if self.limit and self.waiting() > self.limit:
                raise Full(f"{self.limit} requests wait already")
        limit, self.limit = self.limit, 0
        try:
            return super().submit(tensor, serial, queued)
        finally:
            self.limit = limit
