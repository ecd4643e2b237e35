"""`preserve_ordering`: batches are answered in the order in which they were formed, however fast the instances are."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Ordering:
    """Holds an answer back until all earlier ones have been given. Thread-safe. No lock is held while an answer is given."""

    def __init__(self) -> None:
        self._held: dict[int, Callable[[], None]] = {}
        self._next = 0
        self._giving = False
        self._lock = threading.Lock()

    def done(self, number: int, give: Callable[[], None]) -> None:
        """Note that an answer is ready, and give all answers whose turn it is. Numbers run from 0, without gaps."""
        with self._lock:
            self._held[number] = give
            if self._giving:
                return
            self._giving = True
        while turn := self._turn():
            turn()

    def _turn(self) -> Callable[[], None] | None:
        with self._lock:
            turn = self._held.pop(self._next, None)
            self._next += turn is not None
            self._giving = turn is not None
            return turn
