"""Holds the model of an engine that iterates by itself between two steps of a rule. This file travels.

What a rule sends between two steps is then in the engine together, however long each takes to get there, and what it aborts
has not run to its end in the meantime. During a step a handful of iterations may pass, and then more only if nothing has
come out yet.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

HANDFUL = 4  # iterations at a time; with one at a time, a whole check takes three times as long


class Gate:
    """A turnstile between the model, which waits at the beginning of each iteration, and the adapter, which lets it pass."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._permits = self._parked = 0
        self._removed = False

    def wait(self) -> None:
        """Wait until a step lets another iteration pass: the model calls this, on the engine's own thread."""
        with self._changed:
            self._parked += 1
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._removed or self._permits > 0)
            self._parked -= 1
            self._permits = max(0, self._permits - 1)

    def step(self, ready: Callable[[], object], seconds: float = 0.05) -> None:
        """Let the engine go on until something is `ready`, or for so long if nothing is."""
        end = time.monotonic() + seconds
        while not ready() and time.monotonic() < end:
            with self._changed:
                if not self._permits:
                    self._permits = HANDFUL
                    self._changed.notify_all()
                self._changed.wait(0.0005)
        with self._changed:
            self._permits = 0

    def remove(self) -> None:
        """Hold nothing any more: before an engine is closed."""
        with self._changed:
            self._removed = True
            self._changed.notify_all()
