"""What a million inferences cost, as figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from batchproof.bench.measurements.cost import SLOS, Cost, WorkCost
from batchproof.reports.figure_names import figure
from batchproof.reports.figures import Figure


def figures(found: Cost) -> tuple[Figure, ...]:
    """Return the least cost, and the cost under each objective that some configuration keeps."""
    about: dict[str, Any] = {"currency": found.price.currency, "price": found.price.per_hour}
    return tuple(one for name, work in found.works.items() for one in _of_work(name, work, about))


def _of_work(work: str, found: WorkCost, about: dict[str, Any]) -> Iterator[Figure]:
    costs = [one.cost for one in found.batches if one.cost is not None]
    if costs:
        yield figure("cost.least_per_million", min(costs), valid=found.valid, work=work, **about)
    alone_ns = found.batches[0].tau_ns
    for slo in found.slos:
        if slo.cost is not None:
            within = _words(slo.slo_ns, alone_ns)
            yield figure("cost.predicted_per_million", slo.cost, valid=found.valid, work=work, slo=within, **about)


def _words(slo_ns: int, alone_ns: int) -> str:
    """Return an objective as its condition: a multiple of what a lone request takes, or what the user gave."""
    times = next((one for one in SLOS if round(one * alone_ns) == slo_ns), None)
    return f"{slo_ns / 1e6:g}ms" if times is None else f"{times:g}x"
