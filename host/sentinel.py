"""How badly the rig stalled: a thread sleeps for a millisecond, over and over, and notes how late it wakes.

It shares the interpreter with the rig, and so sees what keeps the rig from its work. In a run under load, that may be the
target; `host.stalls` therefore watches the host from another process there.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections import deque
from dataclasses import dataclass

from batchproof.host.stalls import Stall
from batchproof.host.ticker import NOTED_NS, TICK_NS

KEPT = 100_000
STALL_NS = 1_000_000  # what `noise` counts


@dataclass(frozen=True)
class Noise:
    """How noisy the host was while it was watched: the stalls of a millisecond or more, the longest, and all together."""

    watched_ns: int
    stalls: int
    longest_ns: int
    total_ns: int


class Sentinel:
    """Start it before the first drive, stop it after the last; `since(t)` gives the stalls a timeline needs."""

    def __init__(self) -> None:
        self._stalls: deque[Stall] = deque(maxlen=KEPT)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="batchproof-sentinel", daemon=True)

    def start(self) -> Sentinel:
        """Begin to watch."""
        self._started_ns = time.monotonic_ns()
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop watching. Safe to call twice."""
        self._stop.set()
        self._thread.join(timeout=5)

    def noise(self) -> Noise:
        """Return how noisy the host has been since the start."""
        late = [stall.late_ns for stall in self.since(self._started_ns) if stall.late_ns >= STALL_NS]
        return Noise(time.monotonic_ns() - self._started_ns, len(late), max(late, default=0), sum(late))

    def since(self, start_ns: int) -> tuple[Stall, ...]:
        """Return the stalls that ended at or after `start_ns`, with the one that is going on right now."""
        now_ns = time.monotonic_ns()
        current = Stall(now_ns, max(0, now_ns - self._due_ns))
        kept = tuple(self._stalls)
        found = kept[bisect_left(kept, start_ns, key=lambda stall: stall.at_ns) :]
        return (*found, current) if current.late_ns > NOTED_NS else found

    _due_ns = 1 << 62
    _started_ns = 0

    def _watch(self) -> None:
        while not self._stop.is_set():
            self._due_ns = time.monotonic_ns() + TICK_NS
            time.sleep(TICK_NS / 1e9)
            woke_ns = time.monotonic_ns()
            if woke_ns - self._due_ns > NOTED_NS:
                self._stalls.append(Stall(woke_ns, woke_ns - self._due_ns))
