"""A parent that watches this process, because what it runs of others can end it without a word.

After `os._exit` in an adapter, after a crash of an extension, or when the kernel has run out of memory, no handler runs:
there is no message, the report has no end, and the status of `os._exit(0)` even looks like success. So the program runs in a
child. The parent waits, and passes on the signals that it gets. If the child has not come to its end, the parent says so.

Code of a target can also hang in a call that no signal interrupts. The child notes by when a call has to be over, and the
parent ends a child that is late.
"""

from __future__ import annotations

import json
import mmap
import os
import signal
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NoReturn

from batchproof.host import guard, keeper

SIZE = 16_384  # bytes that both processes share: whether the program came to its end, what it awaits, and what it was about
AWAITED = struct.Struct("<qd64s")  # when the parent may end the child (0: never), after how many seconds of what
AT, TOLD = 1, 1 + AWAITED.size  # where both begin
LOOK_S = 5.0  # from one look of the parent to the next; a child that was stopped as well has this long to go on
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
    status, hung = _ended(child, board)
    if board[0]:
        os._exit(os.waitstatus_to_exitcode(status))
    keeper.kill_descendants(parent)
    keeper.collect(1.0)
    os._exit(died(hung or _how(status), json.loads(board[TOLD:].rstrip(b"\0") or b"{}")))


def tell(**about: str) -> None:
    """Note for the parent what this process is doing. Empty: no longer. Without a parent that watches, it does nothing."""
    if _board is None:
        return
    _told.update(about)
    text = json.dumps({name: one for name, one in _told.items() if one}).encode()
    if len(text) < SIZE - TOLD:
        _board[TOLD:] = text.ljust(SIZE - TOLD, b"\0")


@contextmanager
def awaited(what: str, seconds: float) -> Iterator[None]:
    """Let the parent end this process if the code below takes so many seconds. One call at a time is awaited."""
    if _board is None:
        yield
        return
    AWAITED.pack_into(_board, AT, time.monotonic_ns() + int(seconds * 1e9), seconds, what.encode()[:64])
    try:
        yield
    finally:
        AWAITED.pack_into(_board, AT, 0, 0.0, b"")


def came_to_its_end() -> None:
    """Note that this process ends as it should, with the status that it has earned."""
    if _board is not None:
        _board[0] = 1


def _ended(child: int, board: mmap.mmap) -> tuple[int, str]:
    """Wait for the child's end; return how it ended, and what it hung in, if this process has ended it for that.

    A terminal sends Ctrl-C to both processes, so only what another process has sent is passed on.
    """
    late, hung = 0, ""
    while True:
        got = signal.sigtimedwait({*ASKING, signal.SIGCHLD}, LOOK_S)
        if got is None:
            until_ns, seconds, what = AWAITED.unpack_from(board, AT)
            if until_ns and until_ns == late:
                hung = f"was ended, as {what.rstrip(bytes(1)).decode(errors='ignore')} had not returned after {seconds:g} s"
                os.kill(child, signal.SIGKILL)
            late = until_ns if until_ns < time.monotonic_ns() else 0
            continue
        if got.si_signo != signal.SIGCHLD:
            if got.si_code <= 0:
                os.kill(child, got.si_signo)
            continue
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return status, hung


def _how(status: int) -> str:
    """Return how a process ended that did not come to its end."""
    number = os.waitstatus_to_exitcode(status)
    if number >= 0:
        return f"ended with status {number} (as by `os._exit`)"
    if number == -signal.SIGKILL:
        return "was killed by SIGKILL (as by a kernel that has run out of memory)"
    return f"was killed by {signal.Signals(-number).name}"
