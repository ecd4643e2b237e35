"""What an adapter leaves behind: processes and threads that were not there before."""

from __future__ import annotations

import os
import secrets
import sys
import threading
import time
from contextlib import AbstractContextManager
from pathlib import Path

from batchproof.commands.adapter.ending import Residue
from batchproof.host.keeper import command_line, descendants

MARK = "BATCHPROOF_ADAPTER_CHECK"
GRACE_S = 5.0  # for what is still ending
OURS = "batchproof-"
PYTHONS = ("multiprocessing.resource_tracker", "multiprocessing.forkserver")  # Python ends them when it ends itself


class Before(AbstractContextManager["Before"]):
    """What was there before the adapter was imported.

    Everything that is started afterwards inherits a mark in its environment, and is found by it, whatever session it is in
    and whatever its parent is by then. What has no such mark is found as a descendant.
    """

    def __init__(self) -> None:
        self._threads = set(threading.enumerate())
        self._processes = _running()
        self._mark = secrets.token_hex(8)
        os.environ[MARK] = self._mark

    def __exit__(self, *_: object) -> None:
        """Take the mark away."""
        os.environ.pop(MARK, None)

    def left(self) -> Residue:
        """Return what is left after a time of grace."""
        until = time.monotonic() + GRACE_S
        while (found := self._left()) != Residue(daemons=found.daemons) and time.monotonic() < until:
            time.sleep(0.05)
        return found

    def _left(self) -> Residue:
        threads = [one for one in threading.enumerate() if one not in self._threads and not one.name.startswith(OURS)]
        keeping = [one for one in threads if not one.daemon and not _idle(one)]
        return Residue(self._started(), tuple(one.name for one in keeping), len(threads) - len(keeping))

    def _started(self) -> tuple[str, ...]:
        ours, found = set(descendants(os.getpid())), []
        for pid in sorted(_running() - self._processes):
            command = command_line(pid)
            if (pid in ours or self._mark in _environment(pid)) and command and not any(one in command for one in PYTHONS):
                found.append(f"{pid} ({command[:60]})")
        return tuple(found)


def _idle(thread: threading.Thread) -> bool:
    """Return whether it is a worker of a ThreadPoolExecutor that waits for work: Python ends those when it ends itself."""
    frame = sys._current_frames().get(thread.ident or 0)  # noqa: SLF001 - CPython's own, and documented
    return (
        frame is not None
        and frame.f_code.co_name == "_worker"
        and frame.f_globals.get("__name__") == "concurrent.futures.thread"
    )


def _running() -> set[int]:
    return {int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdigit()}


def _environment(pid: int) -> str:
    """Return what a process was started with; empty if it has ended, or belongs to somebody else."""
    try:
        return Path(f"/proc/{pid}/environ").read_text(encoding="latin-1")
    except OSError:
        return ""
