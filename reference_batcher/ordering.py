"""`preserve_ordering`: batches are answered in the order in which they were formed, whichever instance is faster."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Ordering:
    """Holds an answer back until all earlier ones have been given. Thread-safe; no lock is held while one is given."""

    def __init__(self) -> None:
        self._held: dict[int, Callable[[], None]] = {}
        self._next = 0
        self._giving = False
        self._lock = threading.Lock()

    def done(self, number: int, give: Callable[[], None]) -> None:
        """The answer with this number (from 0, without gaps) is ready: give all whose turn it is."""
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
