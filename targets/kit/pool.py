"""Threads for calls that block."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

Result = TypeVar("Result")
_numbers = itertools.count(1)


class Pool:
    """At most `size` daemon threads, each started when a call needs it: a call that hangs keeps no program from ending.

    `concurrent.futures.ThreadPoolExecutor` waits for its threads when Python exits, so it is not for calls to a server that
    may never answer.
    """

    def __init__(self, size: int = 64, name: str = "") -> None:
        self.size = size
        self._name = name or f"batchproof-pool-{next(_numbers)}"
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._lock = threading.Lock()
        self._threads = 0
        self._closed = False

    def submit(self, function: Callable[..., Result], *arguments: Any) -> Future[Result]:
        """Call it on a thread; return a Future of its result. Cancelling the Future works until the call begins."""
        future: Future[Result] = Future()

        def call() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = function(*arguments)
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)

        self.run(call)
        return future

    def run(self, call: Callable[[], None]) -> None:
        """Call it on a thread, when one is free. RuntimeError once the pool is closed."""
        with self._lock:
            if self._closed:
                raise RuntimeError("the pool is closed")
            self._calls.put(call)
            if not self._idle.acquire(blocking=False) and self._threads < self.size:
                self._threads += 1
                threading.Thread(target=self._work, name=f"{self._name}-{self._threads}", daemon=True).start()

    def close(self) -> None:
        """Take no more calls. Those that were taken are still made; this does not wait for them."""
        with self._lock:
            if not self._closed:
                self._closed = True
                for _ in range(self._threads):
                    self._calls.put(None)

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            call()
            del call  # a thread that waits keeps no result alive
            self._idle.release()
