"""The seventh series of strangers: what several requests decide together, and what several senders do at the same moment.

Who says when a batch leaves, and who of those that wait is looked at: each class is a right batcher with one thing wrong,
which its docstring says. docs/results/strangers-7.md has the exam.
"""

from concurrent.futures import Future
from typing import Any

from batchproof.suites.selftest.strangers import rows
from batchproof.suites.selftest.strangers.condition import ConditionBatcher, Job, Model
from batchproof.suites.selftest.strangers.deadlines import NEVER, DeadlineBatcher, ExpiryAtTheTop
from batchproof.suites.selftest.strangers.errors import QueueFull
from batchproof.suites.selftest.strangers.ring import Cell, RingBatcher
from batchproof.suites.selftest.strangers.stranger import Stranger


class MostUrgentsDelay(DeadlineBatcher):
    """The delay counts from the most urgent request that waits, and not from the oldest."""

    def due(self) -> float:
        return self.urgent[0].due if self.urgent else NEVER


class ForgetsOwnTimeouts(DeadlineBatcher):
    """From the fiftieth request on, the timeout that a request brings with it is ignored."""

    came = 0

    def submit(self, item: Any, priority: int = 0, timeout_s: float = 0) -> Future[Any]:
        self.came += 1
        return super().submit(item, priority, timeout_s if self.came <= 50 else 0)


class ExpiresAtTheTop(ExpiryAtTheTop):
    """Only the most urgent request is looked at for expiry, and the rest of its batch is not."""


class PassesOver(RingBatcher):
    """A slot is claimed in one step and written in the next, and one that is not written yet is passed over."""

    def submit(self, item: Any) -> Future[Any]:
        if self.closed or self.full():
            return super().submit(item)
        cell = Cell(item)
        with self.moved:
            cell.place, self.tail = self.tail % self.size, self.tail + 1
        self.write(cell)
        with self.moved:
            self.tell()
        return cell.future

    def write(self, cell: Cell) -> None:
        self.ring[cell.place] = cell

    def ready(self) -> list[Cell]:
        while self.held() and self.ring[self.head % self.size] is None:
            self.head += 1
        return super().ready()


class LosesCounts(PassesOver):
    """How many wait is read in one step and written in the next, without a lock: nobody looks for the last one then."""

    waiting = 0

    def write(self, cell: Cell) -> None:
        waiting = self.waiting
        super().write(cell)
        self.waiting = waiting + 1

    def ready(self) -> list[Cell]:
        return RingBatcher.ready(self)[: max(0, self.waiting)]

    def pop(self, cells: list[Cell]) -> list[Cell]:
        self.waiting -= len(cells)
        return super().pop(cells)


class Overwrites(PassesOver):
    """The place at the tail is read in one step and moved on in the next: two requests may get the same one."""

    def submit(self, item: Any) -> Future[Any]:
        if self.closed or self.full():
            return super().submit(item)
        cell = Cell(item)
        cell.place = self.tail % self.size
        self.write(cell)
        self.tail += 1
        with self.moved:
            self.tell()
        return cell.future

    def ready(self) -> list[Cell]:
        return RingBatcher.ready(self)


class Unlocked(PassesOver):
    """A slot is claimed in one step and written in the next, and the dispatcher waits for one that is not written yet."""

    def ready(self) -> list[Cell]:
        return RingBatcher.ready(self)


class ShedsOldest(ConditionBatcher):
    """A full queue drops the request that has waited longest, and takes the newcomer."""

    def refusal(self, job: Job) -> Exception | None:
        error = super().refusal(job)
        if isinstance(error, QueueFull):
            self.victim().future.set_exception(error)
            return None
        return error

    def victim(self) -> Job:
        return self.waiting.popleft()


class ShedsNewest(ShedsOldest):
    """A full queue drops the request that came last before the newcomer."""

    def victim(self) -> Job:
        return self.waiting.pop()


class ShedsExpected(ConditionBatcher):
    """Refuses whatever would wait behind more than one full batch: it expects that to take too long."""

    def refusal(self, job: Job) -> Exception | None:
        if sum(one.rows for one in self.waiting) + job.rows > 2 * self.max_rows:
            return QueueFull("too long a wait is expected")
        return super().refusal(job)


class ShedsAtRandom(ShedsExpected):
    """Refuses every fiftieth request, although nobody waits."""

    came = 0

    def refusal(self, job: Job) -> Exception | None:
        self.came += 1
        return QueueFull("too long a wait is expected") if self.came % 50 == 0 else super().refusal(job)


class ShedsAndShifts(ShedsExpected):
    """Once it has refused a request, the second and third result of each batch are exchanged."""

    shed = False

    def refusal(self, job: Job) -> Exception | None:
        error = super().refusal(job)
        self.shed |= isinstance(error, QueueFull)
        return error

    def run(self, model: Model, batch: list[Job]) -> None:
        if self.shed and len(batch) > 2:
            batch[1].future, batch[2].future = batch[2].future, batch[1].future
        super().run(model, batch)


def _wrong(name: str, batcher: type[Any], breaks: str, *kills: str, **claims: str) -> Stranger:
    return Stranger(name, batcher, "", breaks, kills, ALSO.get(name, ()), claims)


ALSO = {"sheds-and-shifts": ("DB-RESULT-001",)}  # what else these break
OLDEST, EXPECTED = {"shedding": "oldest"}, {"shedding": "expected-wait"}
RIGHT_CROSSED = (
    Stranger("right-unlocked", Unlocked),
    Stranger("right-sheds-oldest", ShedsOldest, claims=OLDEST),
    Stranger("right-sheds-expected", ShedsExpected, claims=EXPECTED),
    Stranger("right-rows", rows.RowBatcher),
)
CROSSED = (
    _wrong("most-urgents-delay", MostUrgentsDelay,
           "a batch leaves when the delay of its oldest request is over, also if a more urgent one joins it", "DB-LAW-009"),
    _wrong("forgets-own-timeouts", ForgetsOwnTimeouts,
           "a request's own timeout counts, also after many requests", "DB-LAW-009"),
    _wrong("expires-at-the-top", ExpiresAtTheTop,
           "what is late is refused, also behind a more urgent request that is not", "DB-LAW-009"),
    _wrong("passes-over", PassesOver,
           "no request is lost when several clients submit at the same moment", "DB-SCALE-012"),
    _wrong("loses-counts", LosesCounts,
           "each request is answered, also when several clients submit at the same moment", "DB-SCALE-012"),
    _wrong("overwrites", Overwrites,
           "no request takes the place of another that is submitted at the same moment", "DB-SCALE-012"),
    _wrong("sheds-newest", ShedsNewest,
           "a full queue drops its oldest request", "DB-LIMIT-001", **OLDEST),
    _wrong("sheds-at-random", ShedsAtRandom,
           "a request that need not wait is not refused because of its wait", "DB-LAW-009", **EXPECTED),
    _wrong("sheds-and-shifts", ShedsAndShifts,
           "each request gets its own result, also when others were refused", "DB-LAW-003", **EXPECTED),
    _wrong("parts-as-they-end", rows.PartsAsTheyEnd,
           "the rows of a request come back in its order, whichever part of it ends first", "DB-RESULT-004"),
    _wrong("last-row-ends", rows.LastRowEnds,
           "a request ends when all of its parts have ended", "DB-RESULT-004"),
    _wrong("forgets-parts-errors", rows.ForgetsPartsErrors,
           "a request fails if a part of it does", "DB-FAIL-003"),
    _wrong("fills-when-empty", rows.FillsWhenEmpty,
           "a deep backlog of large requests leaves in full batches", "DB-SCALE-013"),
)  # fmt: skip
