"""Keeps a virtual machine's processors awake: `--awake`, and `batchproof lab awake COMMAND` for any other command.

The host of a virtual machine takes away a processor that has nothing to do, and it may take milliseconds to give it back: a
sleep of 1 ms then ends late although nothing else runs. A process on each processor that computes under SCHED_IDLE prevents
that, and gets only the time that no other process wants.

Linux divides a processor among sessions before it looks at the processes in each of them (sched(7), autogroup). SCHED_IDLE
therefore yields only within its own session, and a server in another session would lose half of the processor. That is why
each of these processes has a session of its own, with the least weight that a session can have (see `spinner.py`).
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from batchproof.host import guard

KEPT = "BATCHPROOF_AWAKE"  # set while they are awake; reports say so in their header
SPINNER = Path(__file__).with_name("spinner.py")


class CannotKeepAwake(Exception):
    """This system has no SCHED_IDLE; the message says so."""


@contextlib.contextmanager
def awake() -> Iterator[list[int]]:
    """Start a spinner on each processor that this process may use, and yield their ids; they end with this process.

    CannotKeepAwake where the system has no SCHED_IDLE.
    """
    if not hasattr(os, "SCHED_IDLE"):
        raise CannotKeepAwake("keeping processors awake needs the SCHED_IDLE of Linux: leave out --awake")
    python = [sys.executable, "-S", "-E"]
    command = [*python, guard.__file__, str(os.getpid()), *python, str(SPINNER)]
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


def kept_awake() -> bool:
    """Return whether this process, or one that has started it, keeps the processors awake."""
    return KEPT in os.environ


def run_awake(command: Sequence[str]) -> int:
    """Run a command while the processors are kept awake; return its exit status, or 128 + N if signal N ended it.

    The command receives Ctrl-C itself and ends in its own way; SIGTERM is passed on to it. Call this on the main thread.
    OSError if the command cannot be started; CannotKeepAwake where the system has no SCHED_IDLE.
    """
    with awake():
        process = subprocess.Popen(command)

        def pass_on(*_: Any) -> None:
            process.terminate()

        before = signal.signal(signal.SIGTERM, pass_on)
        try:
            while True:
                with contextlib.suppress(KeyboardInterrupt):
                    status = process.wait()
                    return status if status >= 0 else 128 - status
        finally:
            signal.signal(signal.SIGTERM, before)
