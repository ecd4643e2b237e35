"""Where answers are noted while a run goes on: a slot for each request, written by the thread that settles its Future."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Any

import numpy as np

from batchproof.load.samples import OUTCOMES, UNANSWERED, Samples
from batchproof.stats.arrays import NEVER
from batchproof.targets.futures import batcher_kind
from batchproof.targets.protocol import Kind, Refused

_UNANSWERED = OUTCOMES.index(UNANSWERED)
_ANSWERED = 0


class Answers:
    """Columns of ns from the start of the run. It needs no lock, because a slot is written once, by one thread."""

    def __init__(self, now_ns: Callable[[], int], start_ns: int, count: int = 0) -> None:
        self._now_ns, self._start_ns = now_ns, start_ns
        self.scheduled = array("q")
        self.sent = array("q", [NEVER]) * count
        self.done = array("q", [NEVER]) * count
        self.outcome = bytearray([_UNANSWERED]) * count
        self.client = array("i")
        self._first_open = 0

    def add(self, scheduled_ns: int, client: int) -> int:
        """Make a slot, and return its number. Only one thread at a time may call this. It serves loops of unknown length."""
        self.scheduled.append(scheduled_ns)
        self.sent.append(NEVER)
        self.done.append(NEVER)
        self.outcome.append(_UNANSWERED)
        self.client.append(client)
        return len(self.done) - 1

    def settle(self, number: int, future: Future[Any]) -> None:
        """Note that a request was answered or refused, now."""
        now_ns = self._now_ns() - self._start_ns
        self.outcome[number] = outcome_of_future(future)
        self.done[number] = now_ns  # written last: a reader who sees it also sees the outcome

    def refuse(self, number: int, error: BaseException) -> None:
        """Note that `submit` itself raised, now."""
        self.outcome[number] = outcome_of(error)
        self.done[number] = self._now_ns() - self._start_ns

    def settled(self) -> bool:
        """Whether every request with a slot is settled. The search starts at the first slot that was open the last time."""
        first, done, count = self._first_open, self.done, len(self.done)
        while first < count and done[first] != NEVER:
            first += 1
        self._first_open = first
        return first == count

    def samples(self, scheduled_ns: Any = None) -> Samples:
        """Return a copy, which late answers cannot change."""
        count = len(self.done)
        done = np.array(self.done, np.int64)
        outcome = np.frombuffer(bytes(self.outcome), np.uint8).copy()
        outcome[done == NEVER] = _UNANSWERED
        scheduled = np.array(self.scheduled if scheduled_ns is None else scheduled_ns, np.int64)
        client = np.array(self.client, np.int32) if len(self.client) else np.zeros(count, np.int32)
        return Samples(scheduled, np.array(self.sent, np.int64), done, outcome, client)


def outcome_of_future(future: Future[Any]) -> int:
    """Return the index in OUTCOMES of a Future that is settled."""
    try:
        error = future.exception()
    except CancelledError as cancelled:
        error = cancelled
    return _ANSWERED if error is None else outcome_of(error)


def outcome_of(error: BaseException) -> int:
    """Return the index in OUTCOMES of what an adapter, the reference batcher or a Future raised."""
    match error:
        case Refused():
            kind = error.kind
        case CancelledError():
            kind = Kind.CANCELLED
        case _:
            kind = batcher_kind(error)
    return OUTCOMES.index(kind.value)
