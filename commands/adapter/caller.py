"""Calls verbs of an adapter with a limit, so that one which hangs does not take the check with it."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

Result = TypeVar("Result")


class Hung(Exception):
    """A verb has not returned in time."""

    def __init__(self, verb: str) -> None:
        super().__init__(verb)
        self.verb = verb


@dataclass
class _Call:
    function: Callable[[], Any]
    done: threading.Event = field(default_factory=threading.Event)
    result: Any = None
    error: BaseException | None = None

    def run(self) -> None:
        try:
            self.result = self.function()
        except BaseException as error:
            self.error = error
        self.done.set()


class Caller:
    """One daemon thread that makes the calls, in order. A thread that hangs is left behind, and another takes its place."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._start()

    def call(self, verb: str, function: Callable[[], Result], limit_s: float) -> Result:
        """Return what the function returns, or raise what it raises; Hung if it takes longer than the limit."""
        call = _Call(function)
        self._calls.put(call)
        if not call.done.wait(limit_s):
            self._calls = queue.SimpleQueue()
            self._start()
            raise Hung(verb)
        if call.error is not None:
            raise call.error
        result: Result = call.result
        return result

    def close(self) -> None:
        """End the thread once it is idle."""
        self._calls.put(None)

    def _start(self) -> None:
        threading.Thread(target=_serve, args=(self._calls,), name="batchproof-caller", daemon=True).start()


def _serve(calls: queue.SimpleQueue[_Call | None]) -> None:
    while (call := calls.get()) is not None:
        call.run()
