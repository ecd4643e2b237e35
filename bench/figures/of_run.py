"""What runs of load have in common as figures: a rate, and latencies, each with the interval that its own run gives it.

Such an interval knows how the host and the target varied within the run. It does not know how they vary from one run to the
next: `batchproof compare` sees that only if it is given several runs.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from batchproof.load.runs import Run
from batchproof.reports.figure_names import figure
from batchproof.reports.figures import Figure
from batchproof.stats import intervals
from batchproof.stats.arrays import NEVER, Ints
from batchproof.stats.autocorrelation import integrated_time
from batchproof.stats.intervals import Interval
from batchproof.stats.percentile import fewest, interval, percentile
from batchproof.stats.quantiles import CONFIDENCE, student

GROUPS = 8
PERCENTS = {"p50_ns": 50, "p99_ns": 99}
Bounds = tuple[float | None, float | None]


def rate(run: Run, size: int) -> Interval:
    """Return the answers a second of a closed loop, with bounds from eighths of its answers.

    The answers of a batch come together, so each eighth ends with a batch: it has a multiple of `size` answers. Eighths of
    the time would hold one batch more or less by chance. No bounds with fewer batches than eighths.
    """
    value = run.throughput
    done = np.sort(run.samples.done_ns[run.samples.answered])
    step = len(done) // GROUPS // size * size
    if not step or not value:
        return Interval(value, None, None, CONFIDENCE, 0, 0.0)
    edges = np.concatenate([[0], done[step - 1 :: step][:GROUPS]])
    took = np.diff(edges)
    if (took <= 0).any():
        return Interval(value, None, None, CONFIDENCE, 0, 0.0)
    return around(value, intervals.geometric_mean([float(step * 1e9 / ns) for ns in took]))


def around(value: float, found: Interval) -> Interval:
    """Return this value with the relative bounds of an interval."""
    if not found.estimate or found.low is None or found.high is None:
        return Interval(value, None, None, found.confidence, found.n, found.effective)
    low, high = value * found.low / found.estimate, value * found.high / found.estimate
    return Interval(value, low, high, found.confidence, found.n, found.effective)


def quotient(above: Interval, below: Interval) -> Interval | None:
    """Return the ratio of two independent positive figures; None where there is none.

    The half-widths of their logarithms add up as those of independent figures do: as the sides of a right angle.
    """
    if not above.estimate or not below.estimate:
        return None
    ratio, count = above.estimate / below.estimate, min(above.n, below.n)
    if not (above.low and above.high and below.low and below.high):
        return Interval(ratio, None, None, CONFIDENCE, count, float(count))
    down = math.hypot(math.log(above.estimate / above.low), math.log(below.high / below.estimate))
    up = math.hypot(math.log(above.high / above.estimate), math.log(below.estimate / below.low))
    return Interval(ratio, ratio * math.exp(-down), ratio * math.exp(up), CONFIDENCE, count, float(count))


def median_of(values: Sequence[float]) -> Interval:
    """Return the median of independent values with its bounds, by order statistics."""
    return intervals.median(values)


def latencies(
    prefix: str, latency_ns: Ints, *, valid: bool, percents: Mapping[str, int] = PERCENTS, **conditions: Any
) -> Iterator[Figure]:
    """Yield the figures `prefix.mean_ns`, and `.p50_ns` and the like, of latencies in the order of their schedule.

    A percentile that rests on too few requests, or that falls on one without an answer, gives none; nor does a mean over
    requests of which one has no answer. n counts what the autocorrelation leaves.
    """
    count = len(latency_ns)
    if count and int(latency_ns.max()) < NEVER:
        tau = integrated_time(latency_ns)
        low, high = _mean_bounds(latency_ns, count / tau)
        mean = float(latency_ns.mean())
        yield figure(f"{prefix}.mean_ns", mean, low=low, high=high, n=count / tau, valid=valid, **conditions)
    for name, percent in percents.items():
        if count < fewest(percent) or (found := percentile(latency_ns, percent)) >= NEVER:
            continue
        tau = integrated_time(latency_ns > found)
        low_ns, high_ns = interval(latency_ns, percent, CONFIDENCE, tau)
        bounds: Bounds = (low_ns or None, None if high_ns >= NEVER else high_ns)
        n = count / tau
        yield figure(f"{prefix}.{name}", found, low=bounds[0], high=bounds[1], n=n, valid=valid, **conditions)


def _mean_bounds(values: Ints, effective: float) -> Bounds:
    if effective < 2:
        return None, None
    mean, spread = statistics.fmean(values.tolist()), float(values.std(ddof=1))
    margin = student(CONFIDENCE, effective - 1) * spread / math.sqrt(effective)
    return (mean - margin if mean > margin else None), mean + margin
