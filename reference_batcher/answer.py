"""A Future that is cheap to make: most are waited for by a callback, or by nobody until they are settled.

The standard one makes a Condition for itself, which costs more than all else that is done for a request. This one makes only
the lock, and the Condition around it when a thread waits. Everything else is the standard Future's own code.
"""

from __future__ import annotations

from _thread import RLock
from concurrent.futures import Future
from threading import Condition
from typing import Any

from .execution import Tree

FINISHED = "FINISHED"  # what the standard Future says last, when the rest is there


class Unwatched(RLock):  # type: ignore[misc]
    """In place of the Condition of a Future for which no thread waits: its lock, and nobody to notify."""

    __slots__ = ()

    def notify_all(self) -> None:
        """Nobody waits."""


class LightFuture(Future[Tree]):
    """A Future that makes its Condition when it has to. Its fields are the standard one's (a selftest compares them)."""

    _state = "PENDING"
    _result: Tree = None
    _exception: BaseException | None = None
    _condition: Any

    def __init__(self) -> None:
        self._condition = Unwatched()
        self._waiters = []
        self._done_callbacks: list[Any] = []

    def result(self, timeout: float | None = None) -> Tree:
        """As the standard Future's."""
        if self._state == FINISHED and self._exception is None:
            return self._result
        self._watch()
        return super().result(timeout)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """As the standard Future's."""
        if self._state == FINISHED:
            return self._exception
        self._watch()
        return super().exception(timeout)

    def _watch(self) -> None:
        """Have a Condition by the time that a thread may wait for it; whoever settles looks for it under the same lock."""
        lock = self._condition
        if isinstance(lock, Unwatched):
            with lock:
                if self._condition is lock and not self.done():
                    self._condition = Condition(lock)
