"""Strangers whose queue limit counts what is inside: a request has its place until it has left the model.

Each class is `ConditionBatcher` with one thing different, which its docstring says. Those after `CountsInside` lose places,
or give away too many.
"""

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Any

from batchproof.suites.selftest.strangers.condition import ConditionBatcher, Job, Model
from batchproof.suites.selftest.strangers.errors import QueueFull
from batchproof.suites.selftest.strangers.stranger import Stranger, faulty


class CountsInside(ConditionBatcher):
    """A place is taken when a request is queued, and free again when it is expired, cancelled in the queue, or computed."""

    def __init__(self, models: Sequence[Model], max_rows: int, delay_s: float = 0, timeout_s: float = 0,
                 max_inside: int = 0) -> None:
        self.max_inside, self.inside = max_inside, 0
        super().__init__(models, max_rows, delay_s, timeout_s)

    def refusal(self, job: Job) -> Exception | None:
        if (error := super().refusal(job)) is None and self.full():
            error = QueueFull(f"{self.inside} requests are inside")
        return error

    def full(self) -> bool:
        return 0 < self.max_inside <= self.inside

    def arrived(self, job: Job) -> None:
        self.inside += 1

    def left(self, count: int) -> None:
        """Free the places of so many requests."""
        with self.changed:
            self.inside -= count

    def cancel(self, future: Future[Any]) -> None:
        with self.changed:
            before = len(self.waiting)
            super().cancel(future)
            self.left(before - len(self.waiting))

    def expire(self) -> None:
        before = len(self.waiting)
        super().expire()
        self.left(before - len(self.waiting))

    def run(self, model: Model, batch: list[Job]) -> None:
        super().run(partial(self.compute, model), batch)

    def compute(self, model: Model, items: list[Any]) -> Sequence[Any]:
        try:
            return model(items)
        finally:
            self.left(len(items))


class FreesAfterwards(CountsInside):
    """Frees the places of a batch when all of it has been answered."""

    def run(self, model: Model, batch: list[Job]) -> None:
        super(CountsInside, self).run(model, batch)
        self.left(len(batch))


class FailedKeepsPlace(CountsInside):
    """Frees the places of a batch behind the call of the model, where an exception does not come."""

    def compute(self, model: Model, items: list[Any]) -> Sequence[Any]:
        outputs = model(items)
        self.left(len(items))
        return outputs


class ExpiredKeepsPlace(CountsInside):
    """A request that expires in the queue is never subtracted."""

    def expire(self) -> None:
        super(CountsInside, self).expire()


class CancelledKeepsPlace(CountsInside):
    """A request that is cancelled in the queue is never subtracted."""

    def cancel(self, future: Future[Any]) -> None:
        super(CountsInside, self).cancel(future)


class CancelledFreesTwice(CountsInside):
    """A request that is cancelled in the model is subtracted, and again when the model is done."""

    def cancel(self, future: Future[Any]) -> None:
        running = future.running()
        super().cancel(future)
        self.left(int(running))


class OneMore(CountsInside):
    """Refuses only when more are inside than the limit allows."""

    def full(self) -> bool:
        return 0 < self.max_inside < self.inside


class OneLess(CountsInside):
    """Refuses when the last place would be taken."""

    def full(self) -> bool:
        return 0 < self.max_inside <= self.inside + 1


class FreesOnEntry(CountsInside):
    """A place is free as soon as its request enters the model, so any number may be inside."""

    def compute(self, model: Model, items: list[Any]) -> Sequence[Any]:
        self.left(len(items))
        return model(items)


CLAIMS = {"queue_limit_counts": "inside"}
RIGHT_INSIDE = (
    Stranger("right-counts-inside", CountsInside, claims=CLAIMS),
    Stranger("right-frees-afterwards", FreesAfterwards, claims=CLAIMS),
)
_faulty = partial(faulty, {})
INSIDE = tuple(replace(one, claims=CLAIMS) for one in (
    _faulty("inside-failed-keeps", FailedKeepsPlace, "ScottG489/conjob/issues/25",
            "a failed batch gives all its places back", "DB-LIMIT-015"),
    _faulty("inside-expired-keeps", ExpiredKeepsPlace, "pwrdrvr/lambda-dispatch/issues/165",
            "a request that waited too long gives its place back", "DB-LIMIT-010"),
    _faulty("inside-cancelled-keeps", CancelledKeepsPlace, "ray-project/ray/pull/64348",
            "a request that is cancelled in the queue gives its place back",
            "DB-LIMIT-013", "DB-CANCEL-005"),
    _faulty("inside-cancelled-twice", CancelledFreesTwice, "kestra-io/kestra/pull/17759",
            "a request that is cancelled in the model gives back one place", "DB-LIMIT-011"),
    _faulty("inside-one-more", OneMore, "Netflix/concurrency-limits/pull/78",
            "no more requests are inside than the limit allows", "DB-LIMIT-001"),
    Stranger("inside-one-less", OneLess, "", "as many requests are inside as the limit allows", ("DB-LIMIT-003",)),
    _faulty("inside-frees-on-entry", FreesOnEntry, "valkey-io/valkey-glide/pull/5656",
            "what is in the model counts in the limit", "DB-LIMIT-001"),
))  # fmt: skip
