"""How badly the host stalled, seen from a process of its own, because a thread in this one would compete with the target.

One ticker serves a process: it starts with the first run and ends with the process.
"""

from __future__ import annotations

import atexit
import functools
import mmap
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from batchproof.host import guard
from batchproof.host.ticker import HEAD, KEPT, NOTED_NS, TICK_NS

START_S = 10.0
TICKER = Path(__file__).with_name("ticker.py")


@dataclass(frozen=True)
class Stall:
    """The host did not run the sentinel for `late_ns`, ending at `at_ns`."""

    at_ns: int
    late_ns: int


class Stalls:
    """What the ticker has noted."""

    def __init__(self) -> None:
        size = 8 * (HEAD + 2 * KEPT)
        memory = os.memfd_create("batchproof-stalls")
        try:
            os.ftruncate(memory, size)
            self._seen = memoryview(mmap.mmap(memory, size)).cast("q")
            python = [sys.executable, "-S", "-E"]
            command = [*python, guard.__file__, str(os.getpid()), *python, str(TICKER), str(memory)]
            self._process = subprocess.Popen(command, pass_fds=(memory,), stdin=subprocess.DEVNULL)
            atexit.register(self.stop)
        finally:
            os.close(memory)
        deadline = time.monotonic() + START_S
        while not self._seen[1] and self.alive() and time.monotonic() < deadline:
            time.sleep(TICK_NS / 1e9)

    @property
    def pid(self) -> int:
        """The ticker's process id."""
        return self._process.pid

    def alive(self) -> bool:
        """Return whether the ticker is running."""
        return self._process.poll() is None

    def stop(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()

    def since(self, start_ns: int) -> tuple[Stall, ...]:
        """Return the stalls that ended at or after `start_ns`, with the one that is going on right now."""
        now_ns, count = time.monotonic_ns(), self._seen[0]
        late_ns = now_ns - self._seen[1]
        found = [Stall(now_ns, late_ns)] if late_ns > NOTED_NS and now_ns >= start_ns else []
        for number in range(count - 1, max(-1, count - 1 - KEPT), -1):  # newest first, because only a few are wanted
            place = HEAD + 2 * (number % KEPT)
            if self._seen[place] < start_ns:
                break
            found.append(Stall(self._seen[place], self._seen[place + 1]))
        return tuple(reversed(found))


@functools.cache
def _started_for(_process: int) -> Stalls:
    return Stalls()


def stalls() -> Stalls:
    """Return the stalls of this process; start another ticker if the last one has ended."""
    found = _started_for(os.getpid())
    if not found.alive():
        _started_for.cache_clear()
        found = _started_for(os.getpid())
    return found
