"""A batcher with priority levels, each with a queue policy, and answers in order, after the description of Triton's.

Instance threads take batches from the levels under one lock. A reaper refuses late requests while all instances are busy.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from batchproof.reference_batcher import BatcherConfig
from batchproof.targets import Kind, Request, Response, TargetInfo, relay
from batchproof.targets.kit import Counted, Folder, Witnesses, cancel

DEFAULT_BATCH, DEFAULT_DELAY_S = 32, 0.005


class Refusal(Exception):
    """The base of this batcher's own errors."""


class QueueFull(Refusal):
    """The level has no room."""


class TimedOut(Refusal):
    """It has waited for longer than its timeout."""


class Malformed(Refusal):
    """It can never be served."""


class Stopped(Refusal):
    """The batcher is closed."""


@dataclass
class Policy:
    """How a level treats its requests."""

    timeout_s: float = 0.0
    delays: bool = False
    override: bool = False
    limit: int = 0

    def timeout(self, asked_s: float) -> float:
        """Return the timeout of a request that asks for this much."""
        return asked_s if self.override and 0 < asked_s < self.timeout_s else self.timeout_s


class Item:
    """A request that waits or runs."""

    def __init__(self, tensor: Any, level: int, timeout_s: float) -> None:
        self.tensor, self.rows, self.level = tensor, len(tensor), level
        self.since = time.monotonic()
        self.deadline = self.since + timeout_s if timeout_s else 0.0
        self.future: Future[Any] = Future()
        self.waits = True


class Level:
    """The requests of one level: those in time, and those that are late and wait behind all others."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.fresh: deque[Item] = deque()
        self.late: deque[Item] = deque()

    def items(self) -> list[Item]:
        """Return all, in the order in which they are served."""
        return [*self.fresh, *self.late]

    def remove(self, item: Item) -> None:
        """Take one out."""
        (self.fresh if item in self.fresh else self.late).remove(item)

    def count(self) -> int:
        """Return how many wait."""
        return len(self.fresh) + len(self.late)


class Policies:
    """Batches calls of `model(tensors) -> answers` on `instances` threads. default: the level of a request without one."""

    def __init__(
        self,
        model: Any,
        max_batch: int = DEFAULT_BATCH,
        delay_s: float = DEFAULT_DELAY_S,
        instances: int = 1,
        policies: tuple[Policy, ...] = (Policy(),),
        default: int = 1,
        ordered: bool = False,
    ) -> None:
        self.model, self.max_batch, self.delay_s = model, max_batch, delay_s
        self.default, self.ordered = default, ordered
        self.levels = [Level(policy) for policy in policies]  # the first is the most urgent
        self.changed = threading.Condition(threading.RLock())
        self.closed = False
        self.batches, self.next_out = 0, 0  # formed; of which all before this one have been answered
        self.done: dict[int, list[Any]] = {}  # number of a batch -> what is left to do when it is its turn
        self.delivery = threading.Lock()
        self.counts: Counter[str] = Counter()
        self.sizes: Counter[int] = Counter()
        self.threads = [threading.Thread(target=self.serve, daemon=True) for _ in range(instances)]
        self.threads.append(threading.Thread(target=self.reap, daemon=True))
        for thread in self.threads:
            thread.start()

    def submit(self, tensor: Any, priority: int = 0, timeout_s: float = 0.0, queued: Any = lambda: None) -> Future[Any]:
        """Queue a request, and return the Future of its answer. queued: called before an instance can see it."""
        number = self.level_of(priority)
        level = self.levels[number]
        item = Item(tensor, number, level.policy.timeout(timeout_s))
        with self.changed:
            if self.closed:
                raise Stopped("stopped")
            if item.rows > self.max_batch:
                raise self.refused("fail", Malformed(f"{item.rows} rows; the maximum is {self.max_batch}"))
            if self.full(level):
                raise self.refused("fail", QueueFull(f"{level.policy.limit} requests wait already"))
            queued()
            level.fresh.append(item)
            self.changed.notify_all()
        item.future.add_done_callback(lambda future: self.withdraw(item) if future.cancelled() else None)
        return item.future

    def refused(self, count: str, error: Refusal) -> Refusal:
        """Count a refusal."""
        self.counts[count] += 1
        return error

    def level_of(self, priority: int) -> int:
        """Return the number of a priority's level, from 0."""
        return (priority if 1 <= priority <= len(self.levels) else self.default) - 1

    def full(self, level: Level) -> bool:
        """Return whether a level has no room."""
        return bool(level.policy.limit) and level.count() >= level.policy.limit

    def withdraw(self, item: Item) -> None:
        """Take out what its sender has cancelled."""
        with self.changed:
            if item.waits:
                item.waits = False
                self.levels[item.level].remove(item)
                self.count("cancelled", "fail")
                self.changed.notify_all()

    def count(self, *names: str) -> None:
        """Count something."""
        self.counts.update(names)

    def overdue(self) -> list[Item]:
        """Take out what is late; move what may be late behind the others of its level. Call it with the lock."""
        now, out = time.monotonic(), []
        for level in self.levels:
            for item in [item for item in level.fresh if item.deadline and item.deadline <= now]:
                level.fresh.remove(item)
                if level.policy.delays:
                    self.demote(level, item)
                else:
                    item.waits = False
                    out.append(item)
        return out

    def demote(self, level: Level, item: Item) -> None:
        """Let a late request wait behind all others."""
        level.late.append(item)

    def expire(self, items: list[Item]) -> None:
        """Refuse late requests; call it without the lock."""
        for item in items:
            if item.future.set_running_or_notify_cancel():
                self.count("expired", "fail")
                item.future.set_exception(TimedOut("its timeout is over"))
            else:
                self.count("cancelled", "fail")

    def form(self) -> list[Item]:
        """Return the requests of the next batch, without taking them out."""
        batch, rows = [], 0
        for level in self.levels:
            for item in level.items():
                if rows + item.rows > self.max_batch:
                    return batch
                batch.append(item)
                rows += item.rows
        return batch

    def ready(self, batch: list[Item]) -> float:
        """Return for how many seconds a batch still has to wait for company; 0 or less: it may leave."""
        waiting = sum(level.count() for level in self.levels)
        if self.closed or len(batch) < waiting or sum(item.rows for item in batch) == self.max_batch:
            return 0.0
        return min(item.since for item in batch) + self.delay_s - time.monotonic()

    def serve(self) -> None:
        """Take batches, and run them, until everything has been answered and the batcher is closed."""
        while True:
            with self.changed:
                late = self.overdue()
                batch = self.form()
                left_s = self.ready(batch) if batch else None
                if batch and left_s is not None and left_s <= 0:
                    number = self.leave(batch)
                else:
                    if not batch and self.closed:
                        break
                    if not late:
                        self.changed.wait(left_s)
                        continue
                    batch = []
            self.expire(late)
            if batch:
                self.run(number, batch)

    def leave(self, batch: list[Item]) -> int:
        """Take a batch out of its levels, and return its number."""
        for item in batch:
            self.levels[item.level].remove(item)
            item.waits = False
        if self.closed:
            self.changed.notify_all()  # the reaper ends when nothing waits
        self.batches += 1
        return self.batches - 1

    def reap(self) -> None:
        """Refuse late requests in time, whatever the instances do."""
        while True:
            with self.changed:
                late = self.overdue()
                if not late:
                    if self.closed and not any(level.count() for level in self.levels):
                        break
                    ends = [item.deadline for level in self.levels for item in level.fresh if item.deadline]
                    self.changed.wait(min(ends) - time.monotonic() if ends else None)
            self.expire(late)

    def run(self, number: int, batch: list[Item]) -> None:
        """Execute a batch; deliver its answers when it is its turn."""
        taken = [item for item in batch if item.future.set_running_or_notify_cancel()]
        self.count(*["cancelled", "fail"] * (len(batch) - len(taken)))
        error, answers = None, []
        if taken:
            try:
                answers = self.model([item.tensor for item in taken])
            except Exception as raised:  # noqa: BLE001 - whatever a model raises belongs to its requests
                error = raised
            self.executed(sum(item.rows for item in taken), failed=error is not None)
        self.finish(number, [(item, error or answers[n]) for n, item in enumerate(taken)])

    def executed(self, rows: int, *, failed: bool) -> None:
        """Count an execution; the rows of one that raised do not count as inferences."""
        with self.changed:
            self.counts["inference_count"] += 0 if failed else rows
            self.counts["execution_count"] += 1
            self.sizes[rows] += 1

    def finish(self, number: int, results: list[Any]) -> None:
        """Deliver results, in the order of the batches if there is one."""
        if not self.ordered:
            self.deliver(results)
            return
        with self.delivery:
            self.done[number] = results
            while self.next_out in self.done:
                self.deliver(self.done.pop(self.next_out))
                self.next_out += 1

    def deliver(self, results: list[Any]) -> None:
        """Settle the Futures of a batch."""
        for item, result in results:
            if isinstance(result, Exception):
                self.count("failed", "fail")
                item.future.set_exception(result)
            else:
                self.count("success")
                item.future.set_result(result)

    def statistics(self) -> dict[str, Any]:
        """Return what was counted."""
        with self.changed:
            names = ("success", "fail", "failed", "expired", "cancelled", "inference_count", "execution_count")
            return {**{name: self.counts[name] for name in names}, "batches": dict(self.sizes)}

    def close(self) -> None:
        """Take nothing more; return once everything has been answered."""
        with self.changed:
            self.closed = True
            self.changed.notify_all()
        for thread in self.threads:
            thread.join()


class Target:
    """Policies, with the witness as its model."""

    info = TargetInfo(
        "policies",
        "1.0",
        "policies:Target",
        claims={
            "delay": True,
            "delay_anchor": "oldest-enqueue",
            "rows": True,
            "instances": True,
            "crowd": True,
            "cancel": True,
            "priorities": True,
            "queue_timeout": True,
            "timeout_delay": True,
            "timeout_override": True,
            "max_queue_size": True,
            "ordering": True,
            "statistics": True,
            "error_status": True,
            "close": True,
            "closing": "answers",
            "defaults": True,
            "default_batch": 32,
            "default_delay_ms": 5,
        },
    )

    def __init__(self, batcher: type[Any] = Policies) -> None:
        self.batcher = batcher

    def deploy(self, config: BatcherConfig) -> Deployed:
        """Serve the witness with this configuration."""
        policies = [_policy(config.policy(level)) for level in range(1, max(config.priority_levels, 1) + 1)]
        return Deployed(
            self.batcher, config.max_batch_size, config.max_queue_delay_ns / 1e9, config.instances, tuple(policies),
            config.default_priority_level or 1, config.preserve_ordering,
        )  # fmt: skip

    def deploy_defaults(self) -> Deployed:
        """Serve the witness with nothing set."""
        return Deployed(self.batcher)


def _policy(asked: Any) -> Policy:
    delays = asked.timeout_action == "DELAY"
    return Policy(asked.queue_timeout_ns / 1e9, delays, asked.allow_timeout_override, asked.max_queue_size)


class Deployed:
    """One batcher."""

    cancel = staticmethod(cancel)

    def __init__(self, batcher: Any, *arguments: Any) -> None:
        folder = Folder()
        self.log, self.release, self.queued, self.remove = folder.log, folder.release, folder.queued, folder.remove
        self.counted = Counted(Witnesses(folder.path))
        self.batcher = batcher(self.counted.execute, *arguments)
        self.statistics = self.batcher.statistics

    def submit(self, request: Request) -> Any:
        """Send the payload; an error of `submit` itself is an answer, too."""
        serial, asked = request.serial, request.payload
        try:
            future = self.batcher.submit(
                request.tensor(), asked.priority, asked.timeout_ns / 1e9, lambda: self.counted.accepted(serial)
            )
        except Refusal as error:
            future = Future()
            future.set_exception(error)
        else:
            future.add_done_callback(lambda _: self.counted.left(serial))
        return relay(future, lambda answer: Response(*answer), kind, status)

    def close(self) -> None:
        """Close the batcher: what waits is answered."""
        self.batcher.close()

    def finish(self) -> None:
        """Close the batcher, and remove the logs."""
        self.close()
        self.remove()


KINDS = {
    QueueFull: (Kind.FULL, "RESOURCE_EXHAUSTED"),
    TimedOut: (Kind.EXPIRED, "DEADLINE_EXCEEDED"),
    Malformed: (Kind.INVALID, "INVALID_ARGUMENT"),
    Stopped: (Kind.CLOSED, "UNAVAILABLE"),
}


def kind(error: BaseException) -> Kind:
    """Return what an error of the batcher means."""
    return KINDS.get(type(error), (Kind.FAILED, ""))[0]


def status(error: BaseException) -> str:
    """Return its status."""
    return KINDS.get(type(error), (Kind.FAILED, "INTERNAL"))[1]
