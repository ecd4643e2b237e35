"""Load of sequences: what a client sends who has one of them open at a time, and steps that are due at a steady pace.

A step is one request of a sequence. It is sent when the step before it was answered, never sooner: over single calls nothing
else keeps the steps of a sequence in their order.
"""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np

from batchproof.load.generation.lengths import Lengths
from batchproof.load.runs import Run, closed_loop, open_loop
from batchproof.load.schedule import Schedule, poisson
from batchproof.load.workload import Served
from batchproof.stats.arrays import NEVER, Ints
from batchproof.targets.protocol import Refused
from batchproof.targets.witness.probe import INFO

INSTANCE, BATCH, REQUESTS = (INFO.index(name) for name in ("instance", "batch", "requests"))
DRAWN = 4096  # lengths for one client; then they repeat
_ids = itertools.count(2)  # a model serves the sequence 1 before any run


@dataclass(frozen=True)
class Mix:
    """How many steps sequences have. parts: the distributions; clients, or sequences that arrive, take them by turns."""

    name: str
    parts: tuple[Lengths, ...]

    @property
    def mean(self) -> float:
        """The mean number of steps."""
        return sum(part.mean for part in self.parts) / len(self.parts)

    def of_client(self, client: int, seed: int) -> Iterator[int]:
        """Return the lengths of one client's sequences, without an end."""
        return itertools.cycle(self.parts[client % len(self.parts)].drawn(DRAWN, seed + client).tolist())

    def of_arrivals(self, count: int, seed: int) -> Ints:
        """Return the lengths of sequences that arrive one after another: int64 [count]."""
        drawn = np.stack([part.drawn(count, seed + at) for at, part in enumerate(self.parts)])
        return np.asarray(drawn[np.arange(count) % len(self.parts), np.arange(count)])


class Filled:
    """How many requests each execution held, from what the witness writes into the answers."""

    def __init__(self) -> None:
        self._requests: dict[tuple[int, int], int] = {}

    def watch(self, future: Future[Any]) -> Future[Any]:
        """Look at an answer when it comes."""
        future.add_done_callback(self._look)
        return future

    @property
    def mean(self) -> float | None:
        """Requests in an execution; None if the answers do not say."""
        return sum(self._requests.values()) / len(self._requests) if self._requests else None

    def _look(self, future: Future[Any]) -> None:
        if future.cancelled() or future.exception() is not None:
            return
        if (info := getattr(future.result(), "info", None)) is not None:
            self._requests[int(info[0][INSTANCE]), int(info[0][BATCH])] = int(info[0][REQUESTS])


@dataclass
class _Open:
    """The sequence that a client has open: its correlation ID, and how many steps are left."""

    lengths: Iterator[int]
    id: int = 0
    left: int = 0


class OneEach:
    """Clients of a closed loop, each with one sequence open: when it has ended, the client begins the next."""

    def __init__(self, served: Served, mix: Mix, clients: int, seed: int) -> None:
        self._served = served
        self._open = [_Open(mix.of_client(client, seed)) for client in range(clients)]
        self._ending: list[Future[Any]] = []
        self.filled = Filled()

    def send(self, number: int, client: int) -> Future[Any]:
        """Send the next step of a client."""
        mine, start = self._open[client], False
        if not mine.left:
            mine.id, mine.left, start = next(_ids), next(mine.lengths), True
        mine.left -= 1
        asked = self._served.submit(number, sequence=mine.id, start=start, end=not mine.left)
        return self.filled.watch(asked)

    def leave(self, client: int) -> None:
        """End a client's sequence, so that it keeps no slot that others wait for."""
        mine = self._open[client]
        if mine.left:
            mine.left = 0
            try:
                self._ending.append(self._served.submit(0, sequence=mine.id, end=True))
            except Refused:  # then the target has ended it already
                return

    def finish(self, wait_ns: int) -> None:
        """Wait for the steps that ended what was open."""
        clock = self._served.clock
        clock.wait(lambda: all(future.done() for future in self._ending), clock.now_ns() + wait_ns)


class InOrder:
    """Sends the steps of a schedule; a step that is due before the one in front of it is answered waits for that answer."""

    def __init__(self, served: Served, steps: Steps) -> None:
        self._served, self._steps = served, steps
        self._ids = [next(_ids) for _ in range(steps.sequences)]
        self._waiting: list[deque[tuple[int, Future[Any]]]] = [deque() for _ in range(steps.sequences)]
        self._busy = [False] * steps.sequences
        self._lock = threading.Lock()
        self.filled = Filled()

    def __call__(self, number: int) -> Future[Any]:
        """Send a step, now or behind the one in front of it."""
        whose, mine = int(self._steps.whose[number]), Future[Any]()
        with self._lock:
            if self._busy[whose]:
                self._waiting[whose].append((number, mine))
                return mine
            self._busy[whose] = True
        self._send(number, mine)
        return mine

    def _send(self, number: int, mine: Future[Any]) -> None:
        whose, at = int(self._steps.whose[number]), int(self._steps.place[number])
        end = at == int(self._steps.lengths[whose]) - 1
        try:
            asked = self._served.submit(number, sequence=self._ids[whose], start=at == 0, end=end)
        except Refused as refusal:
            asked = Future()
            asked.set_exception(refusal)
        self.filled.watch(asked).add_done_callback(lambda done: self._answered(whose, mine, done))

    def _answered(self, whose: int, mine: Future[Any], done: Future[Any]) -> None:
        with self._lock:
            following = self._waiting[whose].popleft() if self._waiting[whose] else None
            self._busy[whose] = following is not None
        if done.cancelled():
            mine.cancel()
        elif error := done.exception():
            mine.set_exception(error)
        else:
            mine.set_result(done.result())
        if following is not None:
            self._send(*following)


@dataclass(frozen=True, eq=False)
class Steps:
    """Steps in order of time. whose, place: int64 [n], the sequence and which of its steps; lengths: int64 [sequences]."""

    schedule: Schedule
    whose: Ints
    place: Ints
    lengths: Ints

    @property
    def sequences(self) -> int:
        """How many there are."""
        return len(self.lengths)


def paced(mix: Mix, rate: float, seconds: float, pace_ns: int, seed: int) -> Steps:
    """Return sequences that begin at `rate` a second (Poisson) for `seconds`; each has a step every `pace_ns`."""
    begins = poisson(rate, seconds, seed, exact=True)
    lengths = mix.of_arrivals(begins.count, seed)
    whose = np.repeat(np.arange(begins.count), lengths)
    place = np.arange(len(whose)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    due = begins.due_ns[whose] + place * pace_ns
    order = np.argsort(due, kind="stable")
    spec = f"{begins.spec}; {mix.name}, a step every {pace_ns / 1e6:g} ms"
    return Steps(Schedule(due[order], spec), whose[order], place[order], lengths)


def keep_open(
    served: Served, mix: Mix, sequences: int, *, seconds: float, wait_ns: int, seed: int, steps: int = 0
) -> tuple[Run, float | None]:
    """Keep so many sequences open, each of whose steps is sent when the last one is answered: a closed loop.

    steps: at least so many. Return the run, and the mean number of requests in an execution.
    """
    clients = OneEach(served, mix, sequences, seed)
    run = closed_loop(clients, served.clock, sequences, wait_ns=wait_ns, requests=steps, seconds=seconds)
    clients.finish(wait_ns)
    return run, clients.filled.mean


def play(served: Served, steps: Steps, *, wait_ns: int, percent: float | None = None) -> tuple[Run, float | None]:
    """Offer steps when they are due: an open loop. Latency counts from there, also of a step that waits for the last one."""
    sender = InOrder(served, steps)
    run = open_loop(sender, served.clock, steps.schedule, wait_ns=wait_ns, percent=percent)
    return run, sender.filled.mean


def open_at_once(steps: Steps, done_ns: Ints) -> float | None:
    """Return how many sequences were open at a time in the mean: from the due time of the first step to the last answer.

    None if a step was not answered.
    """
    if int(done_ns.max()) == NEVER:
        return None
    end_ns = np.zeros(steps.sequences, np.int64)
    np.maximum.at(end_ns, steps.whose, done_ns)
    begin_ns = steps.schedule.due_ns[steps.place == 0]  # in order of time, and so in that of the sequences
    return float((end_ns - begin_ns).sum()) / max(1, int(done_ns.max()))
