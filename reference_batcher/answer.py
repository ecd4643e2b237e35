"""A Future that is cheap to make: most requests have a callback, or a thread that asks only when the answer is there.

The standard Future makes itself a Condition, which costs more than everything else that is done for a request. This one
makes only the lock, and puts a Condition around it when a thread waits. All the rest is the standard Future's own code.
"""

from __future__ import annotations

from _thread import RLock
from concurrent.futures import Future
from threading import Condition
from typing import Any

from .execution import Tree

FINISHED = "FINISHED"  # the state that the standard Future sets last, after the result or the exception


class Unwatched(RLock):  # type: ignore[misc]
    """Stands in for the Condition of a Future for which no thread waits: its lock, and nobody to notify."""

    __slots__ = ()

    def notify_all(self) -> None:
        """Do nothing: no thread waits."""


class LightFuture(Future[Tree]):
    """A Future that makes its Condition only when a thread waits. Its fields are the standard ones (a selftest compares)."""

    _state = "PENDING"
    _result: Tree = None
    _exception: BaseException | None = None
    _condition: Any

    def __init__(self) -> None:
        self._condition = Unwatched()
        self._waiters = []
        self._done_callbacks: list[Any] = []

    def result(self, timeout: float | None = None) -> Tree:
        """Do what the standard Future does, without a Condition if the answer is there."""
        if self._state == FINISHED and self._exception is None:
            return self._result
        self._watch()
        return super().result(timeout)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Do what the standard Future does, without a Condition if the answer is there."""
        if self._state == FINISHED:
            return self._exception
        self._watch()
        return super().exception(timeout)

    def _watch(self) -> None:
        """Make the Condition before a thread waits for it; whoever settles the Future looks for it under the same lock."""
        lock = self._condition
        if isinstance(lock, Unwatched):
            with lock:
                if self._condition is lock and not self.done():
                    self._condition = Condition(lock)
