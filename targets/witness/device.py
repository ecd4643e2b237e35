"""A device of set speed: an iteration of an engine takes base_ns, and token_ns for each new token in it.

The witness language model computes almost nothing, so what an engine with it shows is the engine's own cost. A witness that
calls `DEVICE.pace` before an iteration ends is busy for as long as a real model would be, while the processor is free: the
thread sleeps, as the host does while a device computes.

This file is shipped as it is into other processes (an engine's own interpreter), so it needs the standard library only.
"""

from __future__ import annotations

import time


class Device:
    """The time that an iteration takes; none at all until `set` is called."""

    def __init__(self, base_ns: int = 0, token_ns: int = 0) -> None:
        self.set(base_ns, token_ns)

    def set(self, base_ns: int, token_ns: int) -> None:
        """Let each iteration from now on take so long."""
        self.base_ns, self.token_ns = base_ns, token_ns

    def until_ns(self, enter_ns: int, tokens: int) -> int:
        """Return when an iteration of so many new tokens ends that began at `enter_ns`."""
        return enter_ns + self.base_ns + self.token_ns * tokens

    def pace(self, enter_ns: int, tokens: int) -> None:
        """Sleep until the end of an iteration, on `time.monotonic_ns`; return at once if that is over."""
        end_ns = self.until_ns(enter_ns, tokens)
        while (left_ns := end_ns - time.monotonic_ns()) > 0:
            time.sleep(left_ns / 1e9)


DEVICE = Device()  # of the witness in this interpreter
