"""A batcher with tickets and semaphores: a request draws a number, and one thread calls the numbers up when a model is free.

`TurnstileBatcher` is right. Each class after it is wrong in one way, which its docstring says.
"""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from batchproof.suites.selftest.strangers.errors import QueueFull, Stopped

Model = Callable[[list[Any]], Sequence[Any]]


class Ticket:
    """A request with its number. model: who executes it, once somebody does."""

    def __init__(self, item: Any) -> None:
        self.item, self.since = item, time.monotonic()
        self.future: Future[Any] = Future()
        self.model: Model | None = None


class TurnstileBatcher:
    """A request counts as one; the delay counts from the oldest; `places` limits those that wait."""

    def __init__(self, models: Sequence[Model], max_batch: int, delay_s: float = 0, max_waiting: int = 0) -> None:
        self.max_batch, self.delay_s, self.max_waiting = max_batch, delay_s, max_waiting
        self.desk = threading.Lock()
        self.drawn = self.called = self.places = 0
        self.tickets: dict[int, Ticket] = {}
        self.known: dict[Future[Any], Ticket] = {}
        self.arrivals = threading.Semaphore(0)
        self.free = threading.Semaphore(len(models))
        self.models = list(models)
        self.closed = False
        threading.Thread(target=self.conduct, daemon=True).start()

    def submit(self, item: Any) -> Future[Any]:
        ticket = Ticket(item)
        with self.desk:
            if self.closed:
                ticket.future.set_exception(Stopped("the turnstile is closed"))
            elif self.max_waiting and self.places >= self.max_waiting:
                ticket.future.set_exception(QueueFull(f"{self.max_waiting} requests wait"))
            else:
                self.tickets[self.drawn] = self.known[ticket.future] = ticket
                self.drawn += 1
                self.places += 1
                self.announce()
        return ticket.future

    def announce(self) -> None:
        self.arrivals.release()

    def cancel(self, future: Future[Any]) -> None:
        with self.desk:
            if not future.done() and future.cancel():
                self.places -= 1
                self.abandon(self.known.pop(future))

    def abandon(self, ticket: Ticket) -> None:
        """Deal with the ticket of a request that was cancelled: it is passed over when its number is called."""

    def queued(self) -> int:
        return self.places

    def close(self) -> None:
        with self.desk:
            self.closed = True
            self.arrivals.release()

    def conduct(self) -> None:
        while True:
            self.free.acquire()
            batch = self.admit()
            if not batch:
                return
            with self.desk:
                model = self.models.pop(0)
            for ticket in batch:
                ticket.model = model
            threading.Thread(target=self.run, args=(model, batch), daemon=True).start()

    def admit(self) -> list[Ticket]:
        """Return the next batch; an empty one after the last."""
        batch: list[Ticket] = []
        while True:
            batch = [ticket for ticket in batch if not ticket.future.cancelled()]
            if len(batch) == self.max_batch or not self.arrived(batch):
                if started := self.start(batch):
                    return started
                batch = []
                continue
            with self.desk:
                if self.closed and self.called == self.drawn:
                    self.arrivals.release()
                    last = True
                else:
                    last, ticket = False, self.call()
            if last:
                return self.start(batch)
            if ticket is not None:
                self.place(batch, ticket)

    def arrived(self, batch: list[Ticket]) -> bool:
        """Wait for another request, for as long as the batch may wait."""
        if not batch:
            return self.arrivals.acquire()
        return self.arrivals.acquire(timeout=max(0.0, self.leaves(batch) - time.monotonic()))

    def leaves(self, batch: list[Ticket]) -> float:
        """When the batch leaves, full or not."""
        return batch[0].since + self.delay_s

    def call(self) -> Ticket | None:
        ticket = self.tickets.pop(self.called)
        self.called += 1
        return ticket

    def place(self, batch: list[Ticket], ticket: Ticket) -> None:
        batch.append(ticket)

    def start(self, batch: list[Ticket]) -> list[Ticket]:
        with self.desk:
            alive = [ticket for ticket in batch if self.claim(ticket)]
            self.places -= len(alive)
        return alive

    def claim(self, ticket: Ticket) -> bool:
        return ticket.future.set_running_or_notify_cancel()

    def run(self, model: Model, batch: list[Ticket]) -> None:
        try:
            outputs: Sequence[Any] = model([ticket.item for ticket in batch])
        except Exception as error:  # noqa: BLE001
            outputs = [error] * len(batch)
        self.settle(batch, outputs)
        with self.desk:
            for ticket in batch:
                self.known.pop(ticket.future, None)
            self.release(model, batch)

    def settle(self, batch: list[Ticket], outputs: Sequence[Any]) -> None:
        for ticket, output in zip(batch, outputs, strict=True):
            if ticket.future.cancelled():
                continue
            if isinstance(output, Exception):
                ticket.future.set_exception(output)
            else:
                ticket.future.set_result(output)

    def release(self, model: Model, batch: list[Ticket]) -> None:
        self.models.append(model)
        self.free.release()


class AbandonedTicket(TurnstileBatcher):
    """A cancelled request takes its ticket with it, and the thread that calls up the numbers waits for it for ever."""

    def abandon(self, ticket: Ticket) -> None:
        self.tickets = {number: one for number, one in self.tickets.items() if one is not ticket}

    def call(self) -> Ticket | None:
        return super().call() if self.called in self.tickets else None


class Barging(TurnstileBatcher):
    """Who comes while the turnstile is open goes in before those who wait in it."""

    def place(self, batch: list[Ticket], ticket: Ticket) -> None:
        waits = bool(batch) and self.called == self.drawn
        batch.insert(0 if waits else len(batch), ticket)

    def leaves(self, batch: list[Ticket]) -> float:
        return min(ticket.since for ticket in batch) + self.delay_s


class SignalsCoalesce(TurnstileBatcher):
    """Signals of arrivals beyond two batches become one: of a deeper queue the rest waits until somebody else comes."""

    pending = 0

    def announce(self) -> None:
        if self.pending < 2 * self.max_batch:
            self.pending += 1
            super().announce()

    def call(self) -> Ticket | None:
        self.pending -= 1
        return super().call()


class CancelledFreesModel(TurnstileBatcher):
    """To cancel a request in the model gives the model back while it still runs: the next batch runs in it as well."""

    freed: Any = None

    def claim(self, ticket: Ticket) -> bool:
        return not ticket.future.cancelled()

    def cancel(self, future: Future[Any]) -> None:
        ticket = self.known.get(future)
        if ticket is None or ticket.model is None:
            super().cancel(future)
            return
        with self.desk:
            if future.cancel() and self.freed is not ticket.model:
                self.freed = ticket.model
                super().release(ticket.model, [])

    def release(self, model: Model, batch: list[Ticket]) -> None:
        if any(ticket.future.cancelled() for ticket in batch) and self.freed is model:
            self.freed = None
        else:
            super().release(model, batch)


class WaitBalloons(TurnstileBatcher):
    """After a batch that took longer than the delay, the next one waits for as long as that took."""

    took = 0.0

    def leaves(self, batch: list[Ticket]) -> float:
        return batch[0].since + max(self.delay_s, self.took) if self.delay_s else super().leaves(batch)

    def run(self, model: Model, batch: list[Ticket]) -> None:
        started = time.monotonic()
        super().run(model, batch)
        self.took = time.monotonic() - started


class TimerFlagStays(TurnstileBatcher):
    """A batch that fills up leaves the timer's flag set, and no timer is started for the next: it waits until it is full."""

    flag = False

    def arrived(self, batch: list[Ticket]) -> bool:
        if not batch or not self.delay_s:
            return super().arrived(batch)
        if len(batch) == 1 and self.flag:
            return self.arrivals.acquire()
        came = super().arrived(batch)
        self.flag = came
        return came


class ExitStaysShut(TurnstileBatcher):
    """Batches go out through a second turnstile one by one, and a batch that failed does not open it for the next."""

    def __init__(self, models: Sequence[Model], max_batch: int, delay_s: float = 0, max_waiting: int = 0) -> None:
        self.exit = threading.Semaphore(1)
        super().__init__(models, max_batch, delay_s, max_waiting)

    def settle(self, batch: list[Ticket], outputs: Sequence[Any]) -> None:
        self.exit.acquire()
        super().settle(batch, outputs)
        if not isinstance(outputs[0], Exception):
            self.exit.release()
