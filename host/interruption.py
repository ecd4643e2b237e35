"""Ctrl-C, SIGTERM and SIGHUP, which end a run even if the exception that they raise is lost."""

from __future__ import annotations

import signal
import threading
from types import FrameType


class Interruption:
    """A request to end the run.

    A signal raises KeyboardInterrupt wherever the main thread is. In a finalizer, in a callback of the garbage collector or
    under a library's bare `except`, that exception is lost, so `check` raises it again until `told` is called.
    """

    def __init__(self) -> None:
        self.pending = False

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
        self.pending = True
        raise KeyboardInterrupt
