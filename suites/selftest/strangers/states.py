"""The third series of strangers: faults that nothing shows until a batcher has come into a certain state.

Hundreds of requests in full batches, a pause, one request alone behind a failed batch, several that expire together. Each
class is `ConditionBatcher` with one thing wrong, which its docstring says; docs/results/strangers-4.md has the exam.
"""

import time
from collections import deque
from collections.abc import Sequence
from functools import partial

from batchproof.suites.selftest.strangers.condition import NEVER_S, ConditionBatcher, ExpiresWhenFree, Job, Model
from batchproof.suites.selftest.strangers.errors import TooLate
from batchproof.suites.selftest.strangers.stranger import faulty


class WindowClosesForGood(ConditionBatcher):
    """After 500 answers nobody waits for company any more."""

    answered = 0

    def run(self, model: Model, batch: list[Job]) -> None:
        super().run(model, batch)
        self.answered += len(batch)

    def due_s(self) -> float:
        return 0 if self.answered > 500 else super().due_s()


class DeafAfterFailure(ConditionBatcher):
    """An instance whose model has raised does not see the only request that waits, until another one comes."""

    deaf = False

    def run(self, model: Model, batch: list[Job]) -> None:
        super().run(model, batch)
        first = batch[0].future
        self.deaf = not first.cancelled() and first.exception() is not None and len(self.waiting) == 1

    def arrived(self, job: Job) -> None:
        self.deaf = False

    def due_s(self) -> float:
        return NEVER_S if self.deaf and not self.closed else super().due_s()


class DozesOff(ConditionBatcher):
    """An instance looks for requests every millisecond, and every five seconds when none has come for one."""

    def next_batch(self, number: int) -> list[Job]:
        idle_since = time.monotonic()
        while not (self.waiting or self.closed):
            time.sleep(5.0 if time.monotonic() - idle_since > 1.0 else 0.001)
        return super().next_batch(number)


class SecondStays(ConditionBatcher):
    """Removes those who have waited for too long from the list that it walks through: one behind another is passed over."""

    def __init__(
        self, models: Sequence[Model], max_rows: int, delay_s: float = 0, timeout_s: float = 0, max_waiting: int = 0
    ) -> None:
        self.passed: dict[int, Job] = {}
        super().__init__(models, max_rows, delay_s, timeout_s, max_waiting)

    def expire(self) -> None:
        place = 0
        while self.timeout_s and place < len(self.waiting):
            job = self.waiting[place]
            if time.monotonic() - job.since > self.timeout_s and id(job) not in self.passed:
                del self.waiting[place]
                job.future.set_exception(TooLate(f"waited for more than {self.timeout_s} s"))
                self.passed |= {id(behind): behind for behind in list(self.waiting)[place : place + 1]}
            place += 1


class ExpiredTakesASeat(ExpiresWhenFree):
    """A batch is cut before those are thrown out that have waited for too long, and nobody takes their seats."""

    thrown_out = 0

    def expire(self) -> None:
        before = len(self.waiting)
        super().expire()
        self.thrown_out = before - len(self.waiting)

    def head(self) -> list[Job]:
        head = super().head()
        return head[: max(1, len(head) - self.thrown_out)]


class TenBits(ConditionBatcher):
    """The queue is sorted by the numbers of its requests, which have ten bits."""

    number = 0

    def arrived(self, job: Job) -> None:
        self.number += 1
        self.numbers = {**getattr(self, "numbers", {}), id(job): self.number % 1024}
        self.waiting = deque(sorted(self.waiting, key=lambda one: self.numbers[id(one)]))
        self.numbers = {id(one): self.numbers[id(one)] for one in self.waiting}


ALSO = {  # what else these break: looked at one by one
    "expired-takes-a-seat": ("DB-TIMEOUT-005",),  # it is told only when an instance is free
    "window-closes-for-good": ("DB-LAW-009",),
}
_faulty = partial(faulty, ALSO)
STATES = (
    _faulty("window-closes-for-good", WindowClosesForGood, "SeldonIO/MLServer/issues/2065",
            "a request waits for company for the whole delay, also after hundreds of requests", "DB-DELAY-014"),
    _faulty("deaf-after-failure", DeafAfterFailure, "atomix/atomix/issues/1008",
            "a request is served after a failed batch, also if nothing comes after it", "DB-FAIL-002"),
    _faulty("dozes-off", DozesOff, "Azure/azure-functions-durable-extension/issues/1395",
            "the first request after a pause waits no longer than the delay", "DB-DELAY-016"),
    _faulty("second-stays", SecondStays, "isaacs/node-lru-cache/issues/33",
            "each of several requests that have waited for too long is told so, and never executed", "DB-TIMEOUT-002"),
    _faulty("expired-takes-a-seat", ExpiredTakesASeat, "ehcache/ehcache3/issues/559",
            "a batch is filled with those who are left when others have expired", "DB-LAW-009"),
    _faulty("ten-bits", TenBits, "eclipse-ee4j/openmq/issues/136",
            "requests are served in the order in which they came, also the 1025th", "DB-LAW-009"),
)  # fmt: skip
