"""Keeps a virtual machine's processors awake: `--awake`, `python -m batchproof.host.awake COMMAND`.

The host of a virtual machine takes a processor away that has nothing to do, and giving it back may take milliseconds: a
sleep of 1 ms then ends late although nothing else runs. One process a processor that computes under SCHED_IDLE prevents
that; it gets only what nobody else wants. Exits as the command does.

Linux shares a processor among sessions before it looks at the processes in each (sched(7), autogroup), so there SCHED_IDLE
is modest among its own only, and a server in a session of its own would lose half. Hence the nice value of the session.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from batchproof.host.guard import end_with

KEPT = "BATCHPROOF_AWAKE"  # set while they are, for the header of what is measured meanwhile


class Unable(Exception):
    """This system has no SCHED_IDLE; the message says so."""


@contextlib.contextmanager
def awake() -> Iterator[list[int]]:
    """Start one such process for each processor that this one may use, and give their ids; they end with this one.

    Unable where the system has no such class of processes.
    """
    if not hasattr(os, "SCHED_IDLE"):
        raise Unable("keeping processors awake needs the SCHED_IDLE of Linux: leave out --awake")
    command = [sys.executable, "-m", "batchproof.host.awake", "--spin", str(os.getpid())]
    spinners = [subprocess.Popen([*command, str(core)]) for core in sorted(os.sched_getaffinity(0))]
    os.environ[KEPT] = "1"
    try:
        yield [one.pid for one in spinners]
    finally:
        os.environ.pop(KEPT, None)
        for one in spinners:
            one.kill()
        for one in spinners:
            one.wait()


def kept() -> bool:
    """This process, or one that has started it, keeps the processors awake."""
    return KEPT in os.environ


def spin(parent: int, core: int) -> None:
    """Compute for ever, where and when nobody else wants to."""
    end_with(parent, signal.SIGKILL)
    os.setsid()
    with contextlib.suppress(OSError):  # a kernel without autogroups needs none of it
        Path("/proc/self/autogroup").write_text("19")
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    os.sched_setaffinity(0, {core})
    while True:
        pass


def main() -> int:
    """Run the command."""
    if sys.argv[1:2] == ["--spin"]:
        spin(int(sys.argv[2]), int(sys.argv[3]))
    if len(sys.argv) < 2:
        sys.exit("usage: python -m batchproof.host.awake COMMAND ARGUMENT...")
    with awake():
        try:
            process = subprocess.Popen(sys.argv[1:])
        except OSError as error:
            sys.exit(f"cannot run {sys.argv[1]}: {error.strerror}")
        while True:
            try:
                status = process.wait()
            except KeyboardInterrupt:  # the command has it too, and ends in its own way
                continue
            return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
