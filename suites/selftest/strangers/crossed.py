"""The sixth series of strangers: what several requests decide together, and what several senders do at the same moment.

Who says when a batch leaves, and who of those that wait is looked at: each class is a right batcher with one thing wrong,
which its docstring says. docs/results/strangers-7.md has the exam.
"""

from concurrent.futures import Future
from functools import partial
from typing import Any

from batchproof.suites.selftest.strangers.deadlines import NEVER, DeadlineBatcher, ExpiryAtTheTop
from batchproof.suites.selftest.strangers.ring import Cell, RingBatcher
from batchproof.suites.selftest.strangers.stranger import Stranger, faulty


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


ALSO: dict[str, tuple[str, ...]] = {}
_faulty = partial(faulty, ALSO)
RIGHT_CROSSED = (Stranger("right-unlocked", Unlocked),)
CROSSED = (
    _faulty("most-urgents-delay", MostUrgentsDelay, "",
            "a batch leaves when the delay of its oldest request is over, also if a more urgent one joins it", "DB-LAW-009"),
    _faulty("forgets-own-timeouts", ForgetsOwnTimeouts, "",
            "a request's own timeout counts, also after many requests", "DB-LAW-009"),
    _faulty("expires-at-the-top", ExpiresAtTheTop, "",
            "what is late is refused, also behind a more urgent request that is not", "DB-LAW-009"),
    _faulty("passes-over", PassesOver, "",
            "no request is lost when several clients submit at the same moment", "DB-SCALE-030"),
    _faulty("loses-counts", LosesCounts, "",
            "each request is answered, also when several clients submit at the same moment", "DB-SCALE-030"),
    _faulty("overwrites", Overwrites, "",
            "no request takes the place of another that is submitted at the same moment", "DB-SCALE-030"),
)  # fmt: skip
