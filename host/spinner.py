"""One of the processes that `awake` starts: it computes on one processor forever, but only while nothing else needs it.

`spinner.py CORE`. It is run with `-S -E` through `host/guard.py`, so that it ends with the process that started it.
"""

import contextlib
import os
import sys
from pathlib import Path


def spin(core: int) -> None:
    """Compute under SCHED_IDLE, in a session of its own that has the least weight."""
    os.setsid()
    with contextlib.suppress(OSError):  # a kernel without autogroups does not need it
        Path("/proc/self/autogroup").write_text("19")
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    os.sched_setaffinity(0, {core})
    while True:
        pass


if __name__ == "__main__":
    spin(int(sys.argv[1]))
