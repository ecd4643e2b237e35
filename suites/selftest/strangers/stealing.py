"""A pool of polling workers, each with a ring of its own; a worker without work steals from the longest ring.

There is no condition variable: an idle worker sleeps, briefly at first. A ring has one lock for its two ends. Requests go to
the shortest ring, and leave it in their order, whoever takes them.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from typing import Any

from batchproof.reference_batcher import BatcherConfig
from batchproof.targets import Kind, Request, Response, TargetInfo, relay
from batchproof.targets.kit import Counted, Folder, Witnesses, cancel

NAP_S, LONGEST_NAP_S = 0.0002, 0.002


class Refusal(Exception):
    """The base of this batcher's own errors."""


class Full(Refusal):
    """Too many requests wait."""


class TooLong(Refusal):
    """It has waited for longer than its timeout."""


class TooLarge(Refusal):
    """It has more rows than a batch may have."""


class Gone(Refusal):
    """The pool is closed."""


class Job:
    """A request, from `submit` to its answer."""

    def __init__(self, tensor: Any, serial: int) -> None:
        self.tensor, self.rows, self.serial = tensor, len(tensor), serial
        self.since = time.monotonic()
        self.future: Future[Any] = Future()


class Ring:
    """Slots for jobs, as a power of two of them; `head` and `tail` only ever grow."""

    def __init__(self, slots: int = 64) -> None:
        self.slots: list[Any] = [None] * slots
        self.head = self.tail = 0
        self.lock = threading.RLock()

    def __len__(self) -> int:
        return self.tail - self.head

    def push(self, job: Job) -> None:
        """Put a job at the tail."""
        if len(self) == len(self.slots):
            self.grow()
        self.slots[self.tail % len(self.slots)] = job
        self.tail += 1

    def grow(self) -> None:
        """Make room for twice as many."""
        jobs = [self.slots[n % len(self.slots)] for n in range(self.head, self.tail)]
        self.slots = jobs + [None] * len(jobs)
        self.head, self.tail = 0, len(jobs)

    def peek(self) -> Any:
        """Return the job at the head, or None."""
        return self.slots[self.head % len(self.slots)] if len(self) else None

    def pop(self) -> Job:
        """Take the job at the head."""
        job = self.peek()
        self.slots[self.head % len(self.slots)] = None
        self.head += 1
        return job  # type: ignore[no-any-return]


class Stealing:
    """Batches calls of `model(tensors) -> answers` on `workers` threads."""

    def __init__(self, model: Any, max_batch: int, delay_s: float, workers: int, timeout_s: float, limit: int) -> None:
        self.model, self.max_batch, self.delay_s = model, max_batch, delay_s
        self.timeout_s, self.limit = timeout_s, limit
        self.rings = [self.ring() for _ in range(workers)]
        self.busy = [0] * workers
        self.lock = threading.Lock()
        self.closed = False
        self.threads = [threading.Thread(target=self.work, args=(n,), daemon=True) for n in range(workers)]
        self.threads.append(threading.Thread(target=self.reap, daemon=True))
        for thread in self.threads:
            thread.start()

    def ring(self) -> Ring:
        """Return an empty ring."""
        return Ring()

    def submit(self, tensor: Any, serial: int, queued: Any = lambda: None) -> Future[Any]:
        """Queue a request, and return the Future of its answer. queued: called before a worker can see it."""
        if len(tensor) > self.max_batch:
            raise TooLarge(f"{len(tensor)} rows, and a batch has at most {self.max_batch}")
        job = Job(tensor, serial)
        with self.lock:
            if self.closed:
                raise Gone("closed")
            if self.limit and self.waiting() >= self.limit:
                raise Full(f"{self.limit} requests wait already")
            queued()
            ring = self.rings[self.shortest()]
            with ring.lock:
                ring.push(job)
        return job.future

    def waiting(self) -> int:
        """Return how many requests wait, in all rings."""
        return sum(self.alive(ring) for ring in self.rings)

    def alive(self, ring: Ring) -> int:
        """Return how many jobs of a ring still want an answer, once the others are thrown out."""
        with ring.lock:
            self.sweep(ring)
            return len(ring)

    def shortest(self) -> int:
        """Return the number of the ring with the least to do."""
        return min(range(len(self.rings)), key=lambda n: len(self.rings[n]) + self.busy[n])

    def sweep(self, ring: Ring) -> None:
        """Throw out what was cancelled or has waited for too long, and keep the order of the rest."""
        now, kept = time.monotonic(), []
        while len(ring):
            job = ring.pop()
            if job.future.cancelled():
                continue
            if self.timeout_s and now - job.since >= self.timeout_s:
                self.refuse(job, TooLong(f"waited for {self.timeout_s} s"))
                continue
            kept.append(job)
        for job in kept:
            ring.push(job)

    def reap(self) -> None:
        """Refuse what has waited for too long, also while all workers are busy."""
        while self.timeout_s and not self.closed:
            for ring in self.rings:
                self.alive(ring)
            time.sleep(LONGEST_NAP_S)

    def work(self, me: int) -> None:
        """Take batches from my own ring, or else from the longest."""
        nap = NAP_S
        while not self.closed or any(len(ring) for ring in self.rings):
            batch = self.take(self.rings[me])
            batch = batch or self.steal(me)
            if batch:
                nap = NAP_S
                self.busy[me] = 1
                self.execute(batch)
                self.busy[me] = 0
            else:
                time.sleep(nap)
                nap = self.longer(nap)

    def longer(self, nap: float) -> float:
        """Return the next nap of a worker that found nothing."""
        return min(2 * nap, LONGEST_NAP_S)

    def steal(self, me: int) -> list[Job]:
        """Take a batch from the longest ring that has one."""
        others = (ring for ring in self.rings if ring is not self.rings[me])
        return next((batch for ring in sorted(others, key=len, reverse=True) if (batch := self.take(ring))), [])

    def take(self, ring: Ring) -> list[Job]:
        """Take a batch from a ring, if it is full or its first job has waited for the delay."""
        with ring.lock:
            self.sweep(ring)
            first = ring.peek()
            if first is None:
                return []
            due = self.closed or time.monotonic() - first.since >= self.delay_s
            if not due and not self.full(ring):
                return []
            batch: list[Job] = []
            rows = 0
            while (job := ring.peek()) is not None and rows + job.rows <= self.max_batch:
                ring.pop()
                if job.future.set_running_or_notify_cancel():
                    batch.append(job)
                    rows += job.rows
            return batch

    def full(self, ring: Ring) -> bool:
        """Return whether the jobs of a ring fill a batch."""
        rows = 0
        for n in range(ring.head, ring.tail):
            rows += ring.slots[n % len(ring.slots)].rows
            if rows >= self.max_batch:
                return True
        return False

    def execute(self, batch: list[Job]) -> None:
        """Run a batch, and answer its jobs."""
        try:
            answers = self.model([job.tensor for job in batch])
        except Exception as error:  # noqa: BLE001 - whatever a model raises belongs to its requests
            for job in batch:
                self.refuse(job, error)
        else:
            for job, answer in zip(batch, answers, strict=True):
                self.answer(job, answer)

    def answer(self, job: Job, answer: Any) -> None:
        """Give a job its answer."""
        job.future.set_result(answer)

    def refuse(self, job: Job, error: Exception) -> None:
        """Refuse a job, unless it has been cancelled meanwhile."""
        if not job.future.done() and (job.future.running() or job.future.set_running_or_notify_cancel()):
            job.future.set_exception(error)

    def close(self) -> None:
        """Refuse what waits; return once what runs is answered."""
        with self.lock:
            self.closed = True
            for ring in self.rings:
                with ring.lock:
                    while len(ring):
                        self.refuse(ring.pop(), Gone("closed"))
        for thread in self.threads:
            thread.join()


class Target:
    """Stealing, with the witness as its model."""

    info = TargetInfo(
        "stealing",
        "1.0",
        "stealing:Target",
        claims={
            "delay": True,
            "delay_anchor": "oldest-enqueue",
            "rows": True,
            "queue": "stealing",
            "instances": True,
            "crowd": True,
            "cancel": True,
            "queue_timeout": True,
            "max_queue_size": True,
            "close": True,
            "closing": "refuses",
        },
    )

    def __init__(self, batcher: type[Any] = Stealing) -> None:
        self.batcher = batcher

    def deploy(self, config: BatcherConfig) -> Deployed:
        """Serve the witness with this configuration."""
        return Deployed(config, self.batcher)


class Deployed:
    """One pool."""

    cancel = staticmethod(cancel)

    def __init__(self, config: BatcherConfig, batcher: Any = Stealing) -> None:
        folder = Folder()
        self.log, self.release, self.queued, self.remove = folder.log, folder.release, folder.queued, folder.remove
        self.counted = Counted(Witnesses(folder.path))
        self.batcher = batcher(
            self.counted.execute, config.max_batch_size, config.max_queue_delay_ns / 1e9, config.instances,
            config.queue_timeout_ns / 1e9, config.max_queue_size,
        )  # fmt: skip

    def submit(self, request: Request) -> Any:
        """Send the payload; an error of `submit` itself is an answer, too."""
        serial = request.serial
        try:
            future = self.batcher.submit(request.tensor(), serial, lambda: self.counted.accepted(serial))
        except Refusal as error:
            future = Future()
            future.set_exception(error)
        else:
            future.add_done_callback(lambda _: self.counted.left(serial))
        return relay(future, lambda answer: Response(*answer), kind)

    def close(self) -> None:
        """Close the pool: what waits is refused."""
        self.batcher.close()

    def finish(self) -> None:
        """Close the pool, and remove the logs."""
        self.close()
        self.remove()


KINDS = {Full: Kind.FULL, TooLong: Kind.EXPIRED, TooLarge: Kind.INVALID, Gone: Kind.CLOSED}


def kind(error: BaseException) -> Kind:
    """Return what an error of the batcher means."""
    return KINDS.get(type(error), Kind.FAILED)
