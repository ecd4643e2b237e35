"""A batcher with heaps: one by priority and arrival, one by the end of the delay, one by expiry; one thread looks at them.

`DeadlineBatcher` is right. Each class after it is wrong in one way, which its docstring says.
"""

import heapq
import itertools
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from batchproof.suites.selftest.strangers.errors import Stopped, TooLarge, TooLate

Model = Callable[[list[Any]], Sequence[Any]]
NEVER = float("inf")
LONGEST_S = 3600.0


class Waiter:
    """A request that waits. Smaller is more urgent."""

    def __init__(self, item: Any, priority: int, number: int, due: float, expires: float) -> None:
        self.item, self.priority, self.number, self.due, self.expires = item, priority, number, due, expires
        self.future: Future[Any] = Future()
        self.gone = self.cancelled = False

    def __lt__(self, other: "Waiter") -> bool:
        return (self.priority, self.number) < (other.priority, other.number)


class DeadlineBatcher:
    """Rows are counted; the delay and the timeout count from when a request came; a request may bring a shorter timeout."""

    waiter: type[Waiter] = Waiter

    def __init__(self, models: Sequence[Model], max_rows: int, delay_s: float = 0, timeout_s: float = 0) -> None:
        self.max_rows, self.delay_s, self.timeout_s = max_rows, delay_s, timeout_s
        self.changed = threading.Condition()
        self.numbers = itertools.count()
        self.urgent: list[Waiter] = []
        self.delays: list[tuple[float, int, Waiter]] = []
        self.expiries: list[tuple[float, int, Waiter]] = []
        self.serial = itertools.count()  # keeps two entries of one heap from being compared
        self.rows = 0
        self.idle = list(models)
        self.closed = False
        threading.Thread(target=self.schedule, daemon=True).start()

    def submit(self, item: Any, priority: int = 0, timeout_s: float = 0) -> Future[Any]:
        now = time.monotonic()
        shorter = timeout_s if 0 < timeout_s < self.timeout_s else self.timeout_s
        with self.changed:
            one = self.waiter(item, priority, next(self.numbers), now + self.delay_s, now + shorter if shorter else NEVER)
            if self.closed:
                one.future.set_exception(Stopped("the batcher is closed"))
            elif len(item) > self.max_rows:
                one.future.set_exception(TooLarge(f"{len(item)} rows, and a batch has at most {self.max_rows}"))
            else:
                heapq.heappush(self.urgent, one)
                heapq.heappush(self.delays, (one.due, next(self.serial), one))
                heapq.heappush(self.expiries, (one.expires, next(self.serial), one))
                self.rows += len(item)
                self.arrived(one)
                self.changed.notify()
        return one.future

    def arrived(self, one: Waiter) -> None:
        """Note a request that has just been queued."""

    def cancel(self, future: Future[Any]) -> None:
        with self.changed:
            for one in [one for one in self.urgent if one.future is future]:
                one.cancelled = True
                self.drop(one)
            future.cancel()
            self.changed.notify()

    def queued(self) -> int:
        return len(self.urgent)

    def close(self) -> None:
        with self.changed:
            self.closed = True
            self.changed.notify()

    def schedule(self) -> None:
        with self.changed:
            while not self.closed or self.urgent:
                now = time.monotonic()
                self.expire(now)
                if self.idle and self.urgent and (self.closed or self.rows >= self.max_rows or self.due() <= now):
                    threading.Thread(target=self.run, args=(self.idle.pop(0), self.take()), daemon=True).start()
                    continue
                wake = min(self.due() if self.idle and self.urgent else NEVER, self.next_expiry())
                self.changed.wait(min(max(0.0, wake - now), LONGEST_S))

    def due(self) -> float:
        """When the delay of the oldest request that waits is over."""
        while self.delays and self.delays[0][2].gone:
            heapq.heappop(self.delays)
        return self.delays[0][0] if self.delays else NEVER

    def next_expiry(self) -> float:
        while self.expiries and self.expiries[0][2].gone:
            heapq.heappop(self.expiries)
        return self.expiries[0][0] if self.expiries else NEVER

    def expire(self, now: float) -> None:
        while self.next_expiry() < now:
            self.refuse(self.expiries[0][2])

    def refuse(self, one: Waiter) -> None:
        self.drop(one)
        one.future.set_exception(TooLate("waited for too long"))

    def drop(self, one: Waiter) -> None:
        """Take a request out of the middle of the heap."""
        place = self.urgent.index(one)
        last = self.urgent.pop()
        if last is not one:
            self.urgent[place] = last
            self.mend(place)
        self.left(one)

    def mend(self, place: int) -> None:
        """Make the heap a heap again, after its last entry has moved to this place."""
        heapq.heapify(self.urgent)

    def left(self, one: Waiter) -> None:
        one.gone = True
        self.rows -= len(one.item)

    def take(self) -> list[Waiter]:
        batch, rows = [], 0
        while self.urgent and rows + len(self.urgent[0].item) <= self.max_rows:
            one = heapq.heappop(self.urgent)
            rows += len(one.item)
            batch.append(one)
            self.left(one)
            one.future.set_running_or_notify_cancel()
        return batch

    def run(self, model: Model, batch: list[Waiter]) -> None:
        try:
            outputs: Sequence[Any] = model([one.item for one in batch])
        except Exception as error:  # noqa: BLE001
            for one in batch:
                one.future.set_exception(error)
        else:
            for one, output in zip(batch, outputs, strict=True):
                one.future.set_result(output)
        with self.changed:
            self.idle.append(model)
            self.changed.notify()


class ByPriority(Waiter):
    """Only the priority is compared."""

    def __lt__(self, other: Waiter) -> bool:
        return self.priority < other.priority


class TiesUnordered(DeadlineBatcher):
    """The heap compares priorities and nothing else: requests of one priority come out in any order."""

    waiter = ByPriority


class HoleInHeap(DeadlineBatcher):
    """In place of a cancelled request comes the last one of the heap, which moves only down, although it may belong up."""

    def mend(self, place: int) -> None:
        heap = self.urgent
        while (child := 2 * place + 1) < len(heap):
            child += child + 1 < len(heap) and heap[child + 1] < heap[child]
            if heap[place] < heap[child]:
                return
            heap[place], heap[child] = heap[child], heap[place]
            place = child


class HiddenByCancelled(DeadlineBatcher):
    """A cancelled request stays at the top of the heap of delays, and those behind it are not sent when theirs are over."""

    def due(self) -> float:
        while self.delays and self.delays[0][2].gone and not self.delays[0][2].cancelled:
            heapq.heappop(self.delays)
        return self.delays[0][0] if self.delays and not self.delays[0][2].cancelled else NEVER

    def take(self) -> list[Waiter]:
        self.delays = [entry for entry in self.delays if not entry[2].gone]
        heapq.heapify(self.delays)
        return super().take()


class ExpiryAtTheTop(DeadlineBatcher):
    """Only the most urgent request is looked at for expiry: others expire when they get to the top."""

    def next_expiry(self) -> float:
        return self.urgent[0].expires if self.urgent else NEVER

    def expire(self, now: float) -> None:
        while self.next_expiry() < now:
            self.refuse(self.urgent[0])


class NumbersGoRound(DeadlineBatcher):
    """Arrivals are numbered with eight bits: where the numbers start again, newcomers overtake those that wait."""

    def __init__(self, *settings: Any) -> None:
        super().__init__(*settings)
        self.numbers = itertools.cycle(range(256))  # type: ignore[assignment]


class NewcomerResetsExpiry(DeadlineBatcher):
    """There is one timer for expiry, and each newcomer sets it to its own: those before it are refused too late."""

    look = NEVER

    def arrived(self, one: Waiter) -> None:
        self.look = one.expires

    def next_expiry(self) -> float:
        return max(super().next_expiry(), self.look) if self.urgent else NEVER

    def expire(self, now: float) -> None:
        if self.look < now:
            super().expire(now)
            self.look = 0.0


class SoonerUnnoticed(DeadlineBatcher):
    """The timer for expiry is set to the first request, and one that expires sooner does not set it to an earlier time."""

    look = NEVER

    def arrived(self, one: Waiter) -> None:
        if len(self.urgent) == 1:
            self.look = one.expires

    def next_expiry(self) -> float:
        return max(super().next_expiry(), self.look)

    def expire(self, now: float) -> None:
        if self.look < now:
            self.look = 0.0
            super().expire(now)
            self.look = super().next_expiry()


class FillsTheGaps(DeadlineBatcher):
    """A request that does not fit into the batch is passed over, and later ones that do are taken in its place."""

    def take(self) -> list[Waiter]:
        batch, over, room = [], [], self.max_rows
        while self.urgent and room:
            one = heapq.heappop(self.urgent)
            if len(one.item) > room:
                over.append(one)
                continue
            room -= len(one.item)
            batch.append(one)
            self.left(one)
            one.future.set_running_or_notify_cancel()
        for one in over:
            heapq.heappush(self.urgent, one)
        return batch
