"""A batcher that collapses requests, as Hystrix does: a timer sends what has come, and batches never wait for each other.

`Right` is right. Each target after it is wrong in one way, which its docstring says.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import Any, ClassVar

from batchproof.reference_batcher import BatcherConfig
from batchproof.targets import Kind, Refused, Request, Response, TargetInfo, Unsupported, relay
from batchproof.targets.kit import Counted, Folder, Witnesses, cancel

Entry = tuple[Any, Future[Any]]


class Deployed:
    """The collapser with the witness as its command. Its timer ticks at a fixed rate; whoever fills a batch sends it."""

    cancel = staticmethod(cancel)
    waits_for_batches = loses_newcomers = follows_its_first = False

    def __init__(self, config: BatcherConfig) -> None:
        if config.queue_timeout_ns or not config.max_queue_delay_ns:
            raise Unsupported("queue_timeout" if config.queue_timeout_ns else "max_queue_delay_ns")
        self.folder = folder = Folder()
        self.log, self.release, self.queued = folder.log, folder.release, folder.queued
        self.witnesses = Witnesses(folder.path)
        self.counted = Counted(self.witnesses)
        self.size, self.period_s = config.max_batch_size, config.max_queue_delay_ns / 1e9
        self.lock, self.batch, self.stopped, self.closed = threading.Lock(), list[Entry](), threading.Event(), False
        threading.Thread(target=self.tick, daemon=True).start()

    def submit(self, request: Request) -> Future[Response]:
        """Add the payload to the batch that is being collected."""
        future: Future[Any] = Future()
        with self.lock:
            if self.closed:
                future.set_exception(Refused(Kind.CLOSED, "closed"))
                return future
            self.batch.append((request.tensor(), future))
            self.counted.track(request.serial, future)
            full = self.taken() if len(self.batch) >= self.size else []
        self.started(full)
        return relay(future, lambda answer: Response(*answer), lambda _: Kind.FAILED)

    def close(self) -> None:
        """End the timer, and wait for what was collected."""
        with self.lock:
            self.stopped.set()
            self.closed = not self.loses_newcomers
            rest = self.taken()
        self.started(rest).join()
        self.closed = True

    def finish(self) -> None:
        """Close it, and its files."""
        self.close()
        self.counted.close()
        self.witnesses.close()
        self.folder.remove()

    def tick(self) -> None:
        """Send what has come, at each tick."""
        while not self.stopped.wait(self.period_s):
            with self.lock:
                batch = self.taken()
            thread = self.started(batch)
            if self.waits_for_batches:
                thread.join()

    def taken(self) -> list[Entry]:
        """Return the batch, and begin the next one."""
        batch, self.batch = self.batch, []
        return batch

    def started(self, batch: list[Entry]) -> threading.Thread:
        """Execute a batch on a thread of its own."""
        thread = threading.Thread(target=self.run, args=(batch,), daemon=True)
        thread.start()
        return thread

    def run(self, batch: list[Entry]) -> None:
        """Execute a batch, and settle its Futures."""
        if not batch:
            return
        if self.follows_its_first:
            batch[0][1].add_done_callback(lambda first: [one.cancel() for _, one in batch if first.cancelled()])
        try:
            answers = self.counted.execute([tensor for tensor, _ in batch])
        except Exception as error:  # noqa: BLE001
            for _, future in batch:
                future.set_exception(error)
            return
        for (_, future), answer in zip(batch, answers, strict=True):
            if future.set_running_or_notify_cancel():
                future.set_result(answer)


class Right:
    """The target that is right."""

    made: ClassVar[type[Deployed]] = Deployed
    claims: ClassVar[dict[str, Any]] = {
        "delay": True, "delay_anchor": "loop-entry", "smallest_delay_ms": 1, "batches_without_delay": False,
        "late_binding": False, "instances": "unlimited", "rows": "requests", "close": True, "closing": "answers",
    }  # fmt: skip

    def __init__(self) -> None:
        name = type(self).__name__
        self.info = TargetInfo(name, "1", f"{__name__}:{name}", claims=self.claims)

    def deploy(self, config: BatcherConfig) -> Deployed:
        """Make a collapser."""
        return self.made(config)


class TimerWaits(Right):
    """The timer executes its batch itself, so nothing is sent until that is done."""

    made = type("Waiting", (Deployed,), {"waits_for_batches": True})


class NewcomersLost(Right):
    """While closing waits for the last batch, what comes is accepted, and forgotten."""

    made = type("Losing", (Deployed,), {"loses_newcomers": True})


class Cancels(Right):
    """It is right, and takes a request back."""

    claims: ClassVar[dict[str, Any]] = {**Right.claims, "cancel": True}


class FirstTakesAlong(Cancels):
    """Whoever takes back the first request of a batch takes back all of them."""

    made = type("Following", (Deployed,), {"follows_its_first": True})
