"""An asyncio event loop of its own, for stacks that live on one."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

Result = TypeVar("Result")
CALL_S = 30.0
CLOSE_S = 5.0


class Loop:
    """An event loop that runs on a daemon thread until it is closed, and that keeps no program from ending."""

    def __init__(self, name: str = "batchproof-loop") -> None:
        self.loop = asyncio.new_event_loop()
        self._lock = threading.Lock()
        self._open: set[Future[Any]] = set()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, coroutine: Coroutine[Any, Any, Result]) -> Future[Result]:
        """Run a coroutine as a task; return a Future of its result. Cancelling the Future cancels the task.

        RuntimeError if the loop is closed. A Future that is open when the loop is closed is cancelled.
        """
        try:
            with self._lock:
                future = asyncio.run_coroutine_threadsafe(coroutine, self.loop)
                self._open.add(future)
        except RuntimeError:  # the loop is closed
            coroutine.close()
            raise
        future.add_done_callback(self._open.discard)
        return future

    def call(self, function: Callable[..., Result], *arguments: Any, seconds: float = CALL_S) -> Result:
        """Call a plain function on the loop's thread and return its result; TimeoutError if that takes too long.

        RuntimeError if the loop is closed, or is closed before the function has been called.

        This is the way to make an object that wants a running loop, and to read a number at a moment when no task is
        half-way through a step.
        """

        async def run() -> Result:
            return function(*arguments)

        try:
            return self.submit(run()).result(seconds)
        except CancelledError:
            raise RuntimeError("the loop was closed") from None

    def close(self, seconds: float = CLOSE_S) -> None:
        """Cancel every task, and end the loop and its thread; return after that many seconds at the latest."""
        if self.loop.is_closed():
            return
        with contextlib.suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(seconds)

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
            tasks = asyncio.all_tasks(self.loop)
            for task in tasks:
                task.cancel()
            self.loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        finally:
            with self._lock:
                self.loop.close()
            for future in list(self._open):  # what came too late to become a task
                future.cancel()
