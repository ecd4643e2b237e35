"""How fast the host itself was, as figures."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

import numpy as np

from batchproof.host.yardstick import Yardstick
from batchproof.reports.figure_names import figure
from batchproof.reports.figures import Figure
from batchproof.stats.arrays import NEVER
from batchproof.stats.autocorrelation import integrated_time
from batchproof.stats.percentile import interval
from batchproof.stats.quantiles import CONFIDENCE


def figures(found: Yardstick, when: str) -> tuple[Figure, ...]:
    """Return the medians of both workloads. when: "before" the measurements, or "after" them."""
    return tuple(_figures(found, when))


def _figures(found: Yardstick, when: str) -> Iterator[Figure]:
    for name, values in (("host.compute_ns", found.compute_ns), ("host.handover_ns", found.handover_ns)):
        times = np.asarray(values, dtype=np.int64)
        middle = statistics.median(values)
        tau = integrated_time(times > middle)
        low, high = interval(times, 50, CONFIDENCE, tau)
        yield figure(name, middle, low=low or None, high=None if high >= NEVER else high, n=len(values) / tau, when=when)
