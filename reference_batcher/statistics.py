"""What a batcher counts, in Triton's words (`v2/models/M/stats` and the metrics)."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

FIELDS = ("success", "failed", "expired", "full", "cancelled", "cache_hits", "inference_count", "execution_count")


class Statistics:
    """Thread-safe counters.

    success: requests that were answered, including cache hits. failed: requests for which the model, or the batching
    strategy, raised. expired, full,
    cancelled: requests that were never executed. inference_count: rows of executed requests that were answered.
    execution_count: runs of the model.
    """

    def __init__(self) -> None:
        self._counts = dict.fromkeys(FIELDS, 0)
        self._batches: Counter[int] = Counter()
        self._lock = threading.Lock()

    def count(self, **more: int) -> None:
        """Add to the counters of these names."""
        with self._lock:
            self._add(**more)

    def executed(self, rows: int, requests: int, failed: bool) -> None:
        """Count one run of the model on so many rows of so many requests."""
        with self._lock:
            self._batches[rows] += 1
            self._add(execution_count=1)
            self._add(**({"failed": requests} if failed else {"success": requests, "inference_count": rows}))

    def _add(self, **more: int) -> None:  # Counter.update takes five times as long
        for name, number in more.items():
            self._counts[name] += number

    def snapshot(self) -> dict[str, Any]:
        """Return the counts, and under `batches` how many runs each number of rows had."""
        with self._lock:
            return {**self._counts, "batches": dict(self._batches)}
