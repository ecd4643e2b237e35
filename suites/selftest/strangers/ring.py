"""A batcher with a ring buffer of a fixed capacity: requests go in at the tail, and each model's thread takes from the head.

`RingBatcher` is right. Each class after it is wrong in one way, which its docstring says.
"""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from batchproof.suites.selftest.strangers.errors import QueueFull, Stopped

Model = Callable[[list[Any]], Sequence[Any]]


class Cell:
    """What one slot of the ring holds."""

    def __init__(self, item: Any) -> None:
        self.item, self.since, self.place = item, time.monotonic(), 0
        self.future: Future[Any] = Future()


class RingBatcher:
    """A request counts as one; the delay counts from the oldest; head and tail only grow, and a place is its remainder."""

    CAPACITY = 2048

    def __init__(self, models: Sequence[Model], max_batch: int, delay_s: float = 0, capacity: int = 0) -> None:
        self.max_batch, self.delay_s, self.size = max_batch, delay_s, capacity or self.CAPACITY
        self.ring: list[Cell | None] = [None] * self.size
        self.head = self.tail = 0
        self.closed = False
        self.moved = threading.Condition()
        for model in models:
            threading.Thread(target=self.work, args=(model,), daemon=True).start()

    def submit(self, item: Any) -> Future[Any]:
        cell = Cell(item)
        with self.moved:
            if self.closed:
                cell.future.set_exception(Stopped("the ring is closed"))
            elif self.full():
                cell.future.set_exception(QueueFull(f"the ring has {self.size} slots"))
            else:
                self.put(cell)
                self.tell()
        return cell.future

    def full(self) -> bool:
        return self.held() >= self.size

    def held(self) -> int:
        return self.tail - self.head

    def put(self, cell: Cell) -> None:
        cell.place = self.tail % self.size
        self.ring[cell.place] = cell
        self.tail += 1

    def tell(self) -> None:
        self.moved.notify_all()

    def cancel(self, future: Future[Any]) -> None:
        with self.moved:
            cells = [self.ring[number % self.size] for number in range(self.head, self.tail)]
            kept = [cell for cell in cells if cell is not None and cell.future is not future]
            if len(kept) < len(cells):
                self.close_gap(kept)
            future.cancel()
            self.moved.notify_all()

    def close_gap(self, kept: list[Cell]) -> None:
        """Move everything that is left to the head."""
        for number in range(self.head, self.tail):
            self.ring[number % self.size] = None
        self.tail = self.head
        for cell in kept:
            self.put(cell)

    def queued(self) -> int:
        return self.held()

    def close(self) -> None:
        with self.moved:
            self.closed = True
            self.moved.notify_all()

    def work(self, model: Model) -> None:
        while batch := self.next_batch():
            self.run(model, batch)

    def next_batch(self) -> list[Cell]:
        with self.moved:
            while True:
                ready = self.ready()
                left_s = ready[0].since + self.delay_s - time.monotonic() if ready else None
                if ready and (self.closed or self.enough(ready) or (left_s is not None and left_s <= 0)):
                    return self.pop(ready)
                if self.closed and not ready:
                    return []
                self.moved.wait(left_s)

    def enough(self, ready: list[Cell]) -> bool:
        return len(ready) == self.max_batch

    def ready(self) -> list[Cell]:
        """The cells from the head on that would make up the next batch; an empty slot has not been written yet."""
        ready = []
        for number in range(self.head, self.head + min(self.held(), self.max_batch)):
            cell = self.ring[number % self.size]
            if cell is None:
                break
            ready.append(cell)
        return ready

    def pop(self, cells: list[Cell]) -> list[Cell]:
        for cell in cells:
            self.ring[cell.place] = None
            cell.future.set_running_or_notify_cancel()
        self.head += len(cells)
        return cells

    def run(self, model: Model, batch: list[Cell]) -> None:
        try:
            outputs = self.execute(model, batch)
        except Exception as error:  # noqa: BLE001
            for cell in batch:
                self.owner(cell).set_exception(error)
            return
        for cell, output in zip(batch, outputs, strict=True):
            self.owner(cell).set_result(output)

    def execute(self, model: Model, batch: list[Cell]) -> Sequence[Any]:
        return model([cell.item for cell in batch])

    def owner(self, cell: Cell) -> Future[Any]:
        """Whose result it is."""
        return cell.future


class OneSlotShort(RingBatcher):
    """One slot always stays empty, to tell a full ring from an empty one: the last request that should fit is refused."""

    def full(self) -> bool:
        return self.held() >= self.size - 1


class FullIsEmpty(RingBatcher):
    """Head and tail are compared as places: a ring that is exactly full looks empty, and what is in it is lost."""

    def held(self) -> int:
        return (self.tail - self.head) % self.size


class SeamRepeats(RingBatcher):
    """Where a batch goes over the end of the array, the second part is copied from the start of the first."""

    def execute(self, model: Model, batch: list[Cell]) -> Sequence[Any]:
        outputs = list(super().execute(model, batch))
        before = self.size - batch[0].place
        if before < len(batch):
            outputs[before:] = [outputs[place % before] for place in range(len(batch) - before)]
        return outputs


class CancelledFill(RingBatcher):
    """A cancelled request stays in its slot until it gets to the head: it takes room in a batch, and in the ring."""

    def close_gap(self, kept: list[Cell]) -> None:
        return

    def pop(self, cells: list[Cell]) -> list[Cell]:
        for cell in cells:
            self.ring[cell.place] = None
        self.head += len(cells)
        alive = [cell for cell in cells if cell.future.set_running_or_notify_cancel()]
        return alive or self.next_batch()


class RefusalLeavesHole(RingBatcher):
    """A slot is claimed before the limit is looked at: a refused request leaves one behind that nobody ever fills."""

    def full(self) -> bool:
        full = super().full()
        self.tail += full
        return full


class AnswerBySlot(RingBatcher):
    """Results go to whoever has the slot: if the ring came round while the model ran, that is somebody else."""

    def __init__(self, models: Sequence[Model], max_batch: int, delay_s: float = 0, capacity: int = 0) -> None:
        self.owners: dict[int, Future[Any]] = {}
        super().__init__(models, max_batch, delay_s, capacity)

    def put(self, cell: Cell) -> None:
        super().put(cell)
        self.owners[cell.place] = cell.future

    def run(self, model: Model, batch: list[Cell]) -> None:
        try:
            outputs: Sequence[Any] = self.execute(model, batch)
        except Exception as error:  # noqa: BLE001
            outputs = [error] * len(batch)
        for cell, output in zip(batch, outputs, strict=True):
            owner = self.owners[cell.place]
            if owner.done():
                continue
            if isinstance(output, Exception):
                owner.set_exception(output)
            else:
                owner.set_result(output)


class OnlyFirstWakes(RingBatcher):
    """The threads are told of a request only if the ring was empty, and only one of them."""

    def tell(self) -> None:
        if self.held() == 1:
            self.moved.notify()
