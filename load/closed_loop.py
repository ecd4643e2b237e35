"""The closed loop: N clients, each of which sends its next request when the last one is answered.

It sends in the callback of the answer, which is on the target's own thread if the target is in this process. No hand-over
between threads limits the rate or adds to the latency. A batcher that answers before it forms the next batch finds those
clients in its queue already. So N clients, up to the largest batch M, travel together at a rate of N / tau(N), and do not
alternate in two cohorts.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Protocol, runtime_checkable

from batchproof.load.answers import Answers

Submit = Callable[[int], "Future[Any]"]
MOST = 20_000_000  # requests in one run; with a target that takes no time at all, simulated time would never go on


@runtime_checkable
class Clients(Protocol):
    """Clients that do not all send the same, because each one remembers what it has sent."""

    def send(self, number: int, client: int) -> Future[Any]:
        """Send the next request of a client; its number counts the requests of all clients, from 0."""

    def leave(self, client: int) -> None:
        """Note that a client has its last answer, and sends no more."""


class Alike:
    """Clients that all send the same."""

    def __init__(self, submit: Submit) -> None:
        self._submit = submit

    def send(self, number: int, _client: int) -> Future[Any]:
        """Send a request."""
        return self._submit(number)

    def leave(self, client: int) -> None:
        """Nothing is left open."""


def flush_of(submit: Submit | Clients) -> Callable[[], None]:
    """Return its `flush`, or a function that does nothing."""
    flush: Callable[[], None] = getattr(submit, "flush", lambda: None)
    return flush


class Loop:
    """Sends on the thread on which the answer comes. A target that answers inside `submit` does not deepen the stack."""

    def __init__(
        self, submit: Submit | Clients, now_ns: Callable[[], int], start_ns: int, requests: int, least_ns: int
    ) -> None:
        self._clients: Clients = submit if isinstance(submit, Clients) else Alike(submit)
        self._now_ns, self._start_ns = now_ns, start_ns
        self._requests, self._least_ns = requests, least_ns
        self._flush = flush_of(submit)
        self._lock = threading.Lock()
        self._mine = threading.local()
        self._stopped = False
        self.noted = Answers(now_ns, start_ns)
        self.answers = 0
        self.last_sent_ns = 0

    def begin(self, clients: int) -> None:
        """Let every client send its first request. They take turns even if the target answers inside `submit`."""
        self._go(*((client, 0) for client in range(clients)))

    def over(self) -> bool:
        """Whether nothing more is to be sent, and everything that was sent is settled."""
        return (self._stopped or not self._more()) and self.noted.settled()

    def too_many(self) -> bool:
        """Whether it ended early, because it had sent as many requests as a run may have."""
        return len(self.noted.done) >= MOST > self._requests

    def stop(self) -> None:
        """Send no more."""
        with self._lock:
            self._stopped = True

    def _more(self) -> bool:
        sent = len(self.noted.done)
        if sent >= MOST:
            return False
        return sent < self._requests or self._now_ns() - self._start_ns < self._least_ns

    def _go(self, *free: tuple[int, int]) -> None:
        """Let clients send, each from the moment at which it is free; or later, if this thread is sending already."""
        mine = self._mine.__dict__
        if (waiting := mine.get("waiting")) is not None:
            waiting.extend(free)
            return
        mine["waiting"] = waiting = deque(free)
        try:
            while waiting:
                self._send(*waiting.popleft())
            self._flush()
        finally:
            del mine["waiting"]

    def _send(self, client: int, free_ns: int) -> None:
        noted = self.noted
        with self._lock:
            more = not self._stopped and self._more()
            if more:
                number = noted.add(free_ns, client)
                noted.sent[number] = self.last_sent_ns = self._now_ns() - self._start_ns
        if not more:
            self._clients.leave(client)
            return
        try:
            future = self._clients.send(number, client)
        except Exception as error:
            noted.refuse(number, error)
            self._answered(client, number)
            return

        def settle(done: Future[Any]) -> None:
            noted.settle(number, done)
            self._answered(client, number)

        future.add_done_callback(settle)

    def _answered(self, client: int, number: int) -> None:
        with self._lock:
            self.answers += 1
        self._go((client, self.noted.done[number]))
