"""Holds the model of an engine that iterates by itself between two steps of a rule. This file travels.

What a rule sends between two steps is then in the engine together, however long each takes to get there, and what it aborts
has not run to its end in the meantime. During a step the gate is open, for one iteration or more.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Gate:
    """Between the model, which waits at the beginning of each iteration, and the adapter, which lets it go on."""

    def __init__(self) -> None:
        self._open = threading.Event()
        self._removed = False

    def wait(self) -> None:
        """Wait until a step is under way: the model calls this, on the engine's own thread."""
        self._open.wait()

    def step(self, ready: Callable[[], object], seconds: float = 0.05) -> None:
        """Let the engine go on until something is `ready`, or for so long if nothing is."""
        end = time.monotonic() + seconds
        self._open.set()
        while not ready() and time.monotonic() < end:
            time.sleep(0.0005)
        if not self._removed:
            self._open.clear()

    def remove(self) -> None:
        """Hold nothing any more: before an engine is closed."""
        self._removed = True
        self._open.set()
