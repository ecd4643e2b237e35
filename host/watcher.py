"""A parent that watches this process, because what it runs of others can end it without a word.

After `os._exit` in an adapter, after a crash of an extension, or when the kernel has run out of memory, no handler runs:
there is no message, the report has no end, and the status of `os._exit(0)` even looks like success. So the program runs in a
child. The parent waits, and passes on the signals that it gets. If the child has not come to its end, the parent says so.
"""

from __future__ import annotations

import json
import mmap
import os
import signal
from collections.abc import Callable, Mapping
from typing import NoReturn

from batchproof.host import guard, keeper

SIZE = 16_384  # bytes that both processes share: whether the program came to its end, and what it was about
ASKING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_board: mmap.mmap | None = None
_told: dict[str, str] = {}


def run_watched(program: Callable[[], NoReturn], died: Callable[[str, Mapping[str, str]], int]) -> NoReturn:
    """Run a program that calls `came_to_its_end` in a child; end with its status.

    died: called in this process if the child ended in another way: how it did, and what it had told; it flushes what it
    prints, and returns the status to end with. Nothing that the child has started is left then.
    """
    global _board  # noqa: PLW0603 - the child's own end of it
    board = mmap.mmap(-1, SIZE)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {*ASKING, signal.SIGCHLD})
    parent = os.getpid()
    if (child := os.fork()) == 0:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        guard.end_with(parent, signal.SIGKILL)
        _board = board
        program()
    keeper.adopt_orphans()
    status = _ended(child)
    if board[0]:
        os._exit(os.waitstatus_to_exitcode(status))
    keeper.kill_descendants(parent)
    keeper.collect(1.0)
    os._exit(died(_how(status), json.loads(board[1:].rstrip(b"\0") or b"{}")))


def tell(**about: str) -> None:
    """Note for the parent what this process is doing. Empty: no longer. Without a parent that watches, it does nothing."""
    if _board is None:
        return
    _told.update(about)
    text = json.dumps({name: one for name, one in _told.items() if one}).encode()
    if len(text) < SIZE:
        _board[1:] = text.ljust(SIZE - 1, b"\0")


def came_to_its_end() -> None:
    """Note that this process ends as it should, with the status that it has earned."""
    if _board is not None:
        _board[0] = 1


def _ended(child: int) -> int:
    """Wait for the child's end, and return how it ended.

    A terminal sends Ctrl-C to both processes, so only what another process has sent is passed on.
    """
    while True:
        got = signal.sigwaitinfo({*ASKING, signal.SIGCHLD})
        if got.si_signo != signal.SIGCHLD:
            if got.si_code <= 0:
                os.kill(child, got.si_signo)
            continue
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return status


def _how(status: int) -> str:
    """Return how a process ended that did not come to its end."""
    number = os.waitstatus_to_exitcode(status)
    if number >= 0:
        return f"ended with status {number} (as by `os._exit`)"
    if number == -signal.SIGKILL:
        return "was killed by SIGKILL (as by a kernel that has run out of memory)"
    return f"was killed by {signal.Signals(-number).name}"
