"""A device with a set speed: an engine's iteration takes base_ns, plus token_ns for each new token in it.

The witness language model computes almost nothing, so an engine's speed with it shows the engine's own cost. A witness that
calls `DEVICE.pace` before an iteration ends takes as long as a real model would, while the processor is free: the thread
sleeps, as a host thread does while a device computes.

This file is copied into other processes (an engine's own interpreter), so it needs only the standard library.
"""

from __future__ import annotations

import time


class Device:
    """The time that an iteration takes; zero until `set` is called."""

    def __init__(self, base_ns: int = 0, token_ns: int = 0) -> None:
        self.set(base_ns, token_ns)

    def set(self, base_ns: int, token_ns: int) -> None:
        """Set the time that each iteration takes from now on."""
        self.base_ns, self.token_ns = base_ns, token_ns

    def until_ns(self, enter_ns: int, tokens: int) -> int:
        """Return when an iteration with `tokens` new tokens that began at `enter_ns` ends."""
        return enter_ns + self.base_ns + self.token_ns * tokens

    def pace(self, enter_ns: int, tokens: int) -> None:
        """Sleep until an iteration ends, on `time.monotonic_ns`; return at once if that time has passed."""
        end_ns = self.until_ns(enter_ns, tokens)
        while (left_ns := end_ns - time.monotonic_ns()) > 0:
            time.sleep(left_ns / 1e9)


DEVICE = Device()  # the device of the witness in this interpreter
