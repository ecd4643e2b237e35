"""A batcher that queues rows, and not requests: a ring of rows that is filled up from a list outside of it.

A request may be larger than a batch, and its parts may be executed by several models at the same time. `RowBatcher` is
right. Each class after it is wrong in one way, which its docstring says.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from batchproof.suites.selftest.strangers.errors import Stopped

Model = Callable[[list[Any]], Sequence[Any]]
PLACES = 256


class Whole:
    """A request: its rows, and the results of those parts that have ended."""

    def __init__(self, item: Any) -> None:
        self.item, self.since, self.left = item, time.monotonic(), len(item)
        self.parts: list[tuple[int, Any]] = []  # the number of its first row, and the result
        self.future: Future[Any] = Future()

    def part(self, first: int, count: int, output: Any) -> None:
        """Take the result of some rows in a row; the last part to come ends the request."""
        self.parts.append((first, output))
        self.left -= count
        if self.complete(first + count) and not self.future.done():
            columns = zip(*(output for _, output in self.ordered()), strict=True)
            self.future.set_result(tuple(np.concatenate(column) for column in columns))

    def complete(self, end: int) -> bool:
        """Whether the request ends now. end: behind the last row of the part that has just come."""
        return self.left == 0

    def ordered(self) -> list[tuple[int, Any]]:
        """The parts, as they belong together."""
        return sorted(self.parts, key=itemgetter(0))

    def failed(self, first: int, count: int, error: Exception) -> None:
        """Take the error of some rows."""
        if not self.future.done():
            self.future.set_exception(error)


class RowBatcher:
    """A batch has any rows that come next, of whatever requests; the delay counts from the oldest row."""

    whole: type[Whole] = Whole

    def __init__(self, models: Sequence[Model], max_rows: int, delay_s: float = 0) -> None:
        self.max_rows, self.delay_s = max_rows, delay_s
        self.ring: deque[tuple[Whole, int]] = deque()
        self.outside: deque[tuple[Whole, int]] = deque()
        self.changed = threading.Condition()
        self.ends = threading.Lock()
        self.closed = False
        for model in models:
            threading.Thread(target=self.work, args=(model,), daemon=True).start()

    def submit(self, item: Any) -> Future[Any]:
        whole = self.whole(item)
        with self.changed:
            if self.closed:
                whole.future.set_exception(Stopped("the batcher is closed"))
            else:
                self.outside.extend((whole, row) for row in range(len(item)))
                self.fill()
                self.changed.notify_all()
        return whole.future

    def fill(self) -> None:
        while self.outside and len(self.ring) < PLACES:
            self.ring.append(self.outside.popleft())

    def close(self) -> None:
        with self.changed:
            self.closed = True
            self.changed.notify_all()

    def work(self, model: Model) -> None:
        while rows := self.next_batch():
            self.run(model, rows)

    def next_batch(self) -> list[tuple[Whole, int]]:
        with self.changed:
            while True:
                left_s = self.ring[0][0].since + self.delay_s - time.monotonic() if self.ring else None
                if self.ring and (self.closed or len(self.ring) >= self.max_rows or (left_s is not None and left_s <= 0)):
                    rows = [self.ring.popleft() for _ in range(min(len(self.ring), self.max_rows))]
                    self.fill()
                    return rows
                if self.closed and not self.ring:
                    return []
                self.changed.wait(left_s)

    def run(self, model: Model, rows: list[tuple[Whole, int]]) -> None:
        parts = [(whole, [row for _, row in some]) for whole, some in groupby(rows, key=itemgetter(0))]
        try:
            outputs = model([whole.item[numbers[0] : numbers[-1] + 1] for whole, numbers in parts])
        except Exception as error:  # noqa: BLE001
            with self.ends:
                for whole, numbers in parts:
                    whole.failed(numbers[0], len(numbers), error)
            return
        with self.ends:
            for (whole, numbers), output in zip(parts, outputs, strict=True):
                whole.part(numbers[0], len(numbers), output)


class AsTheyEnd(Whole):
    """The parts are put together in the order in which they have ended."""

    def ordered(self) -> list[tuple[int, Any]]:
        return self.parts


class LastRow(Whole):
    """The last row ends the request, although others may still be in a model."""

    def complete(self, end: int) -> bool:
        return end == len(self.item)


class Forgiving(Whole):
    """The error of a part is forgotten: its rows are zeros."""

    def failed(self, first: int, count: int, error: Exception) -> None:
        self.part(first, count, (np.zeros_like(self.item[:count]), np.zeros((count, 10), dtype=np.int64)))


class PartsAsTheyEnd(RowBatcher):
    """Parts of one request are put together in the order in which they have ended."""

    whole = AsTheyEnd


class LastRowEnds(RowBatcher):
    """The last row of a request ends it, although others may still be in a model."""

    whole = LastRow


class ForgetsPartsErrors(RowBatcher):
    """The error of one part of a request is forgotten."""

    whole = Forgiving


class FillsWhenEmpty(RowBatcher):
    """The ring is filled up only when it is empty."""

    def fill(self) -> None:
        if not self.ring:
            super().fill()
