"""Ctrl-C and SIGTERM, which end a run even where the exception that they raise is lost."""

from __future__ import annotations

import signal
import threading
from types import FrameType


class Interruption:
    """What asks a run to end.

    A signal raises KeyboardInterrupt wherever the main thread is. In a finalizer, in a callback of the garbage collector or
    below a library's bare `except` that exception is lost, so `check` raises it again until `told` is called.
    """

    def __init__(self) -> None:
        self.pending = False

    def listen(self) -> None:
        """Handle SIGINT, unless it is ignored, and SIGTERM from now on; does nothing on other threads than the main one."""
        if threading.current_thread() is not threading.main_thread():
            return
        signal.signal(signal.SIGTERM, self._asked)
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, self._asked)

    def check(self) -> None:
        """Raise KeyboardInterrupt if a signal has come and nobody was told of it."""
        if self.pending:
            raise KeyboardInterrupt

    def told(self) -> None:
        """Note that the run ends because of the signal."""
        self.pending = False

    def _asked(self, _number: int, _frame: FrameType | None) -> None:
        self.pending = True
        raise KeyboardInterrupt
