"""One request at a time against dynamic batching, as figures."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any

from batchproof.bench.each_work import Works
from batchproof.bench.figures.of_run import median_of
from batchproof.bench.measurements.naive import Naive
from batchproof.reports.figure_names import figure
from batchproof.reports.figures import Figure


def figures(found: Works[Naive]) -> tuple[Figure, ...]:
    """Return both rates, and what batching gains. Pairs that were discarded give figures that are not results."""
    return tuple(one for name, work in found.works.items() for one in _of_work(name, work))


def _of_work(work: str, found: Naive) -> Iterator[Figure]:
    valid = not found.reasons
    for name, rates in (("one_at_a_time", found.naive_per_s), ("batched", found.dynamic_per_s)):
        if rates:
            value, bounds = statistics.median(rates), median_of(rates)
            known: dict[str, Any] = {"low": bounds.low, "high": bounds.high, "n": len(rates), "valid": valid}
            yield figure(f"naive.{name}_rows_per_s", value, **known, work=work)
    gain = found.conclusion
    if gain.estimate is not None:
        yield figure("naive.gain", gain.estimate, low=gain.low, high=gain.high, n=gain.n, valid=valid, work=work)
