"""How long the rig waits for a server if nothing else sets a limit, and the environment variables that change it."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from batchproof.host.watcher import awaited
from batchproof.targets.protocol import Misuse, TargetError

PREFIX = "BATCHPROOF_"
TIMEOUTS_S = {
    "READY_S": 60.0,  # a server of ours, from its start until it is ready (a container has its option `ready`)
    "LOAD_S": 60.0,  # one model, from the call to load it until it is ready
    "WARM_UP_S": 30.0,  # the first answer of a model that is ready
    "CALL_S": 10.0,  # any other call to a server
    "CONNECT_S": 5.0,  # the first call, and whether a server is still there
    "DEPLOY_S": 600.0,  # an adapter's `deploy`, whatever it does, and making the adapter itself
}


AGAIN_S = 1.0  # code that catches the exception gets another one
GRACE_S = 10.0  # for what an exception sets in motion, before the process is ended


class TooLate(TargetError):
    """Something that the rig waited for did not happen in time."""


def timeout_s(name: str) -> float:
    """Return a timeout in seconds: the variable BATCHPROOF_`name`, or the default. Misuse if that is not a timeout."""
    text = os.environ.get(PREFIX + name, "")
    if not text:
        return TIMEOUTS_S[name]
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise Misuse(f"{PREFIX}{name} must be a number of seconds above 0, not '{text}'")
    return seconds


def check_timeouts() -> None:
    """Raise Misuse if one of the variables is not a timeout."""
    for name in TIMEOUTS_S:
        timeout_s(name)


def more_time(name: str) -> str:
    """Return how the user can allow more time."""
    return f"give it more time with {PREFIX}{name}=SECONDS"


@contextmanager
def within(name: str, what: str) -> Iterator[None]:
    """Raise TooLate in the code below when `what` has taken longer than the timeout `name`; see `interrupted`."""
    seconds = timeout_s(name)
    with interrupted(seconds, what, lambda: TooLate(f"{what} has not returned after {seconds:g} s: {more_time(name)}")):
        yield


@contextmanager
def interrupted(seconds: float, what: str, late: Callable[[], Exception]) -> Iterator[None]:
    """Raise an exception in the code below when it has taken so many seconds, and again each second that it goes on.

    It uses SIGALRM, because an adapter may start processes that end with the thread that started them. So it works in the
    main thread only, and not inside foreign code that never returns to Python: there, the process that watches this one
    ends it a little later (`host.watcher`). An alarm that is already set is left alone.
    """
    if threading.current_thread() is not threading.main_thread() or signal.getitimer(signal.ITIMER_REAL)[0]:
        yield
        return

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise late()

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN_S)
    try:
        with awaited(what, seconds + GRACE_S):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
