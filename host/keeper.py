"""Keeps a program and all of its descendants, and ends them: `keeper.py PARENT_PID PROGRAM ARGUMENT...`.

The program runs in a session of its own. This process adopts every orphan among its descendants, so a worker that has left
its parents and its session is still found, and is killed by its id. It ends them all when its standard input ends, or when
its parent is another process, so not even SIGKILL of the parent leaves anything behind.

Standard input takes one command a line: `signal NUMBER` (to the program), `end NUMBER SECONDS` (the signal to the program,
so long for all to end, then SIGKILL). Standard output says `pid ID`, and `exit STATUS` when the program has ended (negative:
the signal that killed it). What the program prints goes to standard error. Run with `-S -E`: no site, no environment.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys
import time
from collections.abc import Collection

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
STATE, PARENT, THREADS = 0, 1, 17  # in /proc/PID/stat, after the name
LOOK_S = 0.5  # between two looks at who the parent is, in case another process holds our standard input open
STRAYS_S = 1.0  # for those that are left when the program itself has ended as asked
KILL_S = 5.0
NOT_EXECUTABLE = 127
TRACKER = "multiprocessing.resource_tracker"  # in the command line of Python's own
NEVER = float("inf")


def adopt_orphans() -> None:
    """Become the parent of every orphan among this process's descendants."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants(pid: int) -> list[int]:
    """Return the ids of all descendants of a process that are running, parents before their children.

    A process whose first thread has ended looks like a zombie, and is still the parent of its children.
    """
    parents, zombies = {}, set[int]()
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError, ValueError), open(f"/proc/{name}/stat", encoding="latin-1") as file:
            fields = file.read().rpartition(")")[2].split()
            parents[int(name)] = int(fields[PARENT])
            if fields[STATE] in "ZX" and int(fields[THREADS]) <= 1:
                zombies.add(int(name))
    found, level = list[int](), {pid}
    while level := {child for child, parent in parents.items() if parent in level}:
        found += sorted(level)
    return [one for one in found if one not in zombies]


def kill_descendants(pid: int, spare: Collection[int] = (), limit_s: float = KILL_S) -> dict[int, str]:
    """Kill all descendants of a process, one by one; return what they were: id -> command line.

    The orphans of those that are killed are found as well if that process has called `adopt_orphans`. Those that free what
    the others have left of shared memory end by themselves when the others have ended, and are killed only if they do not.
    spare: ids that are left alone.
    """
    killed: dict[int, str] = {}
    now = time.monotonic()
    deadline, patient_until = now + limit_s, now + STRAYS_S
    while (found := [one for one in descendants(pid) if one not in spare]) and time.monotonic() < deadline:
        lines = {one: command_line(one) for one in found}
        others = [one for one, line in lines.items() if TRACKER not in line]
        for one in others or (found if time.monotonic() > patient_until else []):
            killed.setdefault(one, lines[one])
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(one, signal.SIGKILL)
        time.sleep(0.005)
    return killed


def collect(limit_s: float = KILL_S) -> None:
    """Collect every child of this process: in a container, nobody else may do it, and they would stay as zombies."""
    deadline = time.monotonic() + limit_s
    with contextlib.suppress(ChildProcessError):
        while time.monotonic() < deadline:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.005)


def command_line(pid: int) -> str:
    """Return the beginning of a process's command line; an empty string once it has ended."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read(400).replace(b"\0", b" ").decode("utf-8", "replace").strip()
    return ""


def start(argv: list[str]) -> int:
    """Start the program in a session of its own; return its id. It ends when this process ends."""
    mine = os.getpid()
    if pid := os.fork():
        return pid
    with contextlib.suppress(OSError):
        os.setsid()
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):  # Python ignores some, and a shell may ignore another
            signal.signal(number, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
        if os.getppid() == mine:
            os.execvp(argv[0], argv)  # noqa: S606 - no shell wanted
    os.write(2, f"cannot run {argv[0]}: {sys.exc_info()[1] or 'there is no such program that can be executed'}\n".encode())
    os._exit(NOT_EXECUTABLE)


class Keeper:
    """The state of this process: the program that it keeps, and until when the end may take."""

    def __init__(self, parent: int, argv: list[str]) -> None:
        self.parent = parent
        adopt_orphans()
        self.woken, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        self.deadline = NEVER
        self.running = True
        self.pid = start(argv)

    def run(self) -> None:
        """Serve until nothing is left to keep, or until it is time to kill what is left."""
        self.say(f"pid {self.pid}")
        while os.getppid() == self.parent and self.any_left() and (left_s := self.deadline - time.monotonic()) > 0:
            ready, _, _ = select.select([0, self.woken], [], [], min(LOOK_S, left_s))
            if self.woken in ready:
                os.read(self.woken, 512)
            if 0 in ready:
                commands = os.read(0, 4096)
                if not commands:
                    return
                for line in commands.decode().splitlines():
                    self.obey(*line.split())

    def obey(self, command: str, number: str, seconds: str = "") -> None:
        """Do what a line of standard input says."""
        if command == "end":
            self.deadline = time.monotonic() + (float(seconds) if self.running else 0.0)
        if self.running:
            os.kill(self.pid, int(number))

    def any_left(self) -> bool:
        """Collect the children that have ended; return whether others are left."""
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return True
                if pid == self.pid:
                    self.running = False
                    if self.deadline < NEVER:
                        self.deadline = min(self.deadline, time.monotonic() + STRAYS_S)
                    self.say(f"exit {os.waitstatus_to_exitcode(status)}")
        return False

    def say(self, news: str) -> None:
        """Tell the parent, if it is still there."""
        with contextlib.suppress(OSError):
            os.write(1, f"{news}\n".encode())


if __name__ == "__main__":
    try:
        Keeper(int(sys.argv[1]), sys.argv[2:]).run()
    finally:
        kill_descendants(os.getpid())
        collect()
