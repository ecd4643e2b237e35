"""The end of this process: bounded, with the status that it has earned, and with everything that it has started.

Python waits for threads that are not daemons, for calls on a ThreadPoolExecutor and for exit handlers, for as long as they
take, and leaves processes behind. What runs here has other people's code in it, so it does not rely on their manners.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Collection
from typing import Any, NoReturn

from batchproof.host import keeper, watcher

LIMIT_S = 5.0  # for threads and exit handlers, once there is nothing left to do
AT_ONCE_S = 1.0  # for each step of an end that was asked for twice
INTERRUPTED = 128 + signal.SIGINT
NAMED = 3  # of what was left, so many are listed
_leaving = threading.Lock()


def run_to_the_end(program: Callable[[], object], interrupted: int = 1) -> NoReturn:
    """Run a program and end this process with its status: what SystemExit says, 0 without it, 1 after another exception.

    interrupted: the status of a KeyboardInterrupt that the program does not handle, of which nothing is printed.
    From now on every orphan among this process's descendants is its child, so none of them is out of reach at the end.
    """
    keeper.adopt_orphans()
    try:
        program()
        status = 0
    except SystemExit as ended:
        status = _status(ended.code)
    except KeyboardInterrupt:
        status = interrupted
    except BaseException:
        traceback.print_exc()
        status = 1
    end(status)


def end(status: int, limit_s: float = LIMIT_S) -> NoReturn:
    """End this process as Python does, but within this time; say on standard error what it had to end by force."""

    def force() -> None:
        if not ended.wait(limit_s):
            _leave(status, hung=True)

    ended = threading.Event()
    threading.Thread(target=force, name="batchproof-end", daemon=True).start()
    try:
        threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001 - the two steps with which Python itself ends
        atexit._run_exitfuncs()  # noqa: SLF001
    except BaseException:  # as if the time were over
        _leave(status, hung=True)
    ended.set()
    _leave(status, hung=False)


def _status(code: Any) -> int:
    """Return the number that a SystemExit stands for; a text is printed, as Python does it."""
    if code is None or isinstance(code, int):
        return code or 0
    print(code, file=sys.stderr)
    return 1


def _leave(status: int, *, hung: bool) -> NoReturn:
    """Kill every descendant, say what was left, and exit. A second caller waits for the first."""
    if not _leaving.acquire(blocking=False):
        threading.Event().wait()
    with contextlib.suppress(Exception):
        left = _stuck() if hung else []
        killed = keeper.kill_descendants(os.getpid(), _tracker())
        keeper.collect(1.0)
        names = [f"{pid} {line}" for pid, line in killed.items() if keeper.__file__ not in line]
        if names:
            left.append(_several("process", "es", names))
        if left:
            print(
                f"batchproof: ended by force what the target left: {'; '.join(left)}. Its `close` or `finish` has to end it",
                file=sys.stderr,
            )
    _flush()
    watcher.came_to_its_end()
    os._exit(status)


def leave_at_once(status: int = INTERRUPTED) -> NoReturn:
    """Kill every descendant and end this process, whatever hangs in it."""
    with contextlib.suppress(Exception):
        keeper.kill_descendants(os.getpid(), _tracker(), AT_ONCE_S)
        keeper.collect(AT_ONCE_S)
    last = threading.Thread(target=_flush, name="batchproof-flush", daemon=True)
    last.start()
    last.join(AT_ONCE_S)
    watcher.came_to_its_end()
    os._exit(status)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()


def _stuck() -> list[str]:
    """Return what this process waits for: threads by name, or the place where an exit handler stands."""
    main = threading.main_thread()
    ours = (main, threading.current_thread())
    if threads := [one.name for one in threading.enumerate() if not one.daemon and one not in ours]:
        return [_several("thread", "s", threads)]
    frames = traceback.extract_stack(sys._current_frames().get(main.ident or 0))  # noqa: SLF001 - the documented way
    theirs = [one for one in frames if one.filename != __file__]
    where = f" ({theirs[-1].filename}:{theirs[-1].lineno})" if theirs else ""
    return [f"an exit handler that does not return{where}"]


def _several(what: str, ending: str, names: list[str]) -> str:
    """Return how many there are, and which."""
    listed = ", ".join(name[:100] for name in names[:NAMED]) + (", ..." if len(names) > NAMED else "")
    return f"{len(names)} {what}{ending if len(names) > 1 else ''} ({listed})"


def _tracker() -> Collection[int]:
    """Return the id of multiprocessing's resource tracker, which ends with us and frees what is left of shared memory."""
    module = sys.modules.get("multiprocessing.resource_tracker")
    pid = getattr(getattr(module, "_resource_tracker", None), "_pid", None)
    return [pid] if pid else []
