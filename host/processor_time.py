"""The processor time that processes have used, exact to the nanosecond, and that of threads that have ended as well."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

from batchproof.host.run_queue import members

SCHEDULED = 2  # CPUCLOCK_SCHED (Linux include/linux/posix-timers_types.h): what clock_getcpuclockid(3) makes of a process


def used(group: int) -> Callable[[], int]:
    """Return what tells the time used so far, in ns: by this process, and by those that a process group has now.

    group: 0 if there is none.
    """
    clocks = [(~int(process.name) << 3) | SCHEDULED for process in members(group)] if group else []

    def used_ns() -> int:
        return time.process_time_ns() + sum(map(_of, clocks))

    return used_ns


def _of(clock: int) -> int:
    """Return the time of a process by its clock; 0 if it has ended."""
    with contextlib.suppress(OSError):
        return time.clock_gettime_ns(clock)
    return 0
