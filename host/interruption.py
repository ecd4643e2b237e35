"""Ctrl-C, SIGTERM and SIGHUP: the first ends a run in an orderly way, and the next one ends this process at once."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from types import FrameType

from batchproof.host.process_end import leave_at_once

ONE_S = 1.0  # within this time, several signals are one request: `timeout` and process groups send it twice


class Interruption:
    """A request to end the run.

    A signal raises KeyboardInterrupt wherever the main thread is. In a finalizer, in a callback of the garbage collector or
    under a library's bare `except`, that exception is lost, so `check` raises it again until `told` is called.

    What is started is then ended, which may take long where it hangs. A person who asks again does not want to wait: then
    `leave` ends this process, and everything that it has started, by force. now_s: the time in seconds.
    """

    def __init__(
        self, leave: Callable[[], object] = leave_at_once, now_s: Callable[[], float] = time.monotonic
    ) -> None:
        self.pending = False
        self._leave, self._now_s = leave, now_s
        self._first_s: float | None = None

    def listen(self) -> None:
        """Handle SIGTERM, and SIGINT and SIGHUP unless they are ignored; does nothing outside the main thread."""
        if threading.current_thread() is not threading.main_thread():
            return
        signal.signal(signal.SIGTERM, self._asked)
        for number in (signal.SIGINT, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._asked)

    def check(self) -> None:
        """Raise KeyboardInterrupt if a signal has arrived and `told` has not been called."""
        if self.pending:
            raise KeyboardInterrupt

    def told(self) -> None:
        """Record that the run ends because of the signal."""
        self.pending = False

    def _asked(self, _number: int, _frame: FrameType | None) -> None:
        now_s = self._now_s()
        if self._first_s is None:
            self._first_s, self.pending = now_s, True
            raise KeyboardInterrupt
        if now_s - self._first_s >= ONE_S:
            self._leave()


def listen_to_sigterm() -> None:
    """Let SIGTERM act like Ctrl-C, unless this process handles it already; does nothing outside the main thread."""
    here = threading.current_thread() is threading.main_thread()
    if here and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
