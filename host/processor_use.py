"""How much of a processor this process and all that it has started use while nothing is asked of them."""

from __future__ import annotations

import os
import time
from pathlib import Path
from statistics import median

from batchproof.host.keeper import descendants

PROC = Path("/proc")
UTIME, STIME = 11, 12  # fields of /proc/PID/stat after the name, as in proc(5), in ticks
TIMES = 3  # an odd number: the median ignores one burst, and one time in which other programs had the processor


def used_ns() -> int:
    """Return the processor time of this process, and of those of its descendants that are running."""
    tick_ns = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    return time.process_time_ns() + tick_ns * sum(map(_ticks, descendants(os.getpid())))


def idle_share(seconds: float) -> float:
    """Return what they use while this thread sleeps, as a share of one processor: the median of several such times."""
    return median(_share(seconds) for _ in range(TIMES))


def _share(seconds: float) -> float:
    before_ns, began_ns = used_ns(), time.monotonic_ns()
    time.sleep(seconds)
    took_ns = time.monotonic_ns() - began_ns
    return max(0, used_ns() - before_ns) / took_ns


def _ticks(pid: int) -> int:
    """Return how many ticks a process has used; 0 if it has ended."""
    try:
        fields = (PROC / str(pid) / "stat").read_text(encoding="latin-1").rpartition(")")[2].split()
        return int(fields[UTIME]) + int(fields[STIME])
    except (OSError, ValueError, IndexError):
        return 0
