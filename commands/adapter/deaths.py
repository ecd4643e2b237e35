"""Threads of the target that end with an exception: remembered in a line each, instead of a traceback on the terminal."""

from __future__ import annotations

import threading
import traceback
from contextlib import AbstractContextManager
from pathlib import Path

from batchproof.commands.adapter.finding import Finding, note
from batchproof.targets.witness import probe

Hook = threading.ExceptHookArgs


class Deaths(AbstractContextManager["Deaths"]):
    """While it is open, threads that end with an exception are collected here."""

    def __init__(self) -> None:
        self.seen: dict[str, int] = {}
        self._before, threading.excepthook = threading.excepthook, self._died

    def __exit__(self, *_: object) -> None:
        threading.excepthook = self._before

    def _died(self, death: Hook) -> None:
        if death.exc_type is SystemExit:
            return
        error = traceback.TracebackException(death.exc_type, death.exc_value or death.exc_type(), death.exc_traceback)
        names = "".join(error.format_exception_only()).strip().splitlines()
        said = f"{names[-1] if names else death.exc_type.__name__} ({_where(error)})"
        self.seen[said] = self.seen.get(said, 0) + 1

    def findings(self) -> tuple[Finding, ...]:
        """Return a note for each different end."""
        return tuple(
            note("threads", f"{_times(count)} of the target ended with {said}") for said, count in self.seen.items()
        )


def _where(error: traceback.TracebackException) -> str:
    """Return the last place outside the witness, which is where the stack or the adapter calls it: `scheduler.py:266`."""
    witness = str(Path(probe.__file__).parent)
    places = [frame for frame in error.stack if not frame.filename.startswith(witness)]
    return f"{Path(places[-1].filename).name}:{places[-1].lineno}" if places else "no place"


def _times(count: int) -> str:
    return "a thread" if count == 1 else f"{count} threads"
