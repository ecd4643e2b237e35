"""What a batcher counts; the words are Triton's (`v2/models/M/stats` and the metrics)."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

FIELDS = ("success", "failed", "expired", "full", "cancelled", "cache_hits", "inference_count", "execution_count")


class Statistics:
    """Thread-safe counters.

    success: requests that were answered, cache hits among them. failed: the model raised. expired, full, cancelled: never
    executed. inference_count: rows of executed requests that were answered. execution_count: runs of the model.
    """

    def __init__(self) -> None:
        self._counts = Counter(dict.fromkeys(FIELDS, 0))
        self._batches: Counter[int] = Counter()
        self._lock = threading.Lock()

    def count(self, **more: int) -> None:
        """Add."""
        with self._lock:
            self._counts.update(more)

    def executed(self, rows: int, requests: int, failed: bool) -> None:
        """One run of the model."""
        with self._lock:
            self._batches[rows] += 1
            self._counts.update(execution_count=1)
            self._counts.update({"failed": requests} if failed else {"success": requests, "inference_count": rows})

    def snapshot(self) -> dict[str, Any]:
        """Return the counts, and under `batches` how many runs there were of each number of rows."""
        with self._lock:
            return {**self._counts, "batches": dict(self._batches)}
