"""A model that stands for a device: a batch keeps it for a given time, while the processor is free."""

from __future__ import annotations

import threading
import time
from typing import Any

from batchproof.host.watch import sharp_timer


class Device:
    """Busy for `tau_ns` a batch, whatever its size; its outputs are its inputs. 0: takes no time at all.

    It sleeps, with a sharp timer on whichever thread calls it, and notes how long that took. A host never wakes a thread at
    the exact moment, and the delay (`spent_ns` against `tau_ns * batches`) is the host's fault and not the batcher's. So a
    batcher is measured against two limits: that of the device as it was asked for, and that of the device as it was.
    """

    def __init__(self, tau_ns: int) -> None:
        self.tau_ns = tau_ns
        self.spent_ns = self.batches = self.rows = 0
        self._mine = threading.local()

    def __call__(self, batch: Any) -> Any:
        """Run a batch: anything with rows first."""
        start_ns = time.monotonic_ns()
        if self.tau_ns:
            self._sleep_until(start_ns + self.tau_ns)
        self.batches += 1
        self.rows += len(batch)
        self.spent_ns += time.monotonic_ns() - start_ns
        return batch

    def took_ns(self) -> float:
        """Return the mean time of a batch, as it was."""
        return self.spent_ns / self.batches if self.batches else 0.0

    def _sleep_until(self, when_ns: int) -> None:
        if not getattr(self._mine, "sharp", False):
            sharp_timer()
            self._mine.sharp = True
        while (left_ns := when_ns - time.monotonic_ns()) > 0:
            time.sleep(left_ns / 1e9)
