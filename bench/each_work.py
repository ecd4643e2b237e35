"""What measurements share that do the same with each work of a bench."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from batchproof.bench.measurement import Bench, Result
from batchproof.load.workload import Skipped, Work
from batchproof.stats.gates import worst

Works = Mapping[str, Result]


def each_work(
    bench: Bench, measure: Callable[[Bench, Work], Result], tables: Callable[[Works], list[dict[str, Any]]]
) -> Result:
    """Measure each work and sum up; Skipped if none can be measured.

    measure: gives valid, reasons, verdict and says (and whatever else) of one work; Skipped leaves that work out.
    """
    works: dict[str, Result] = {}
    skipped: dict[str, str] = {}
    for work in bench.works:
        try:
            works[work.name] = measure(bench, work)
        except Skipped as reason:
            skipped[work.name] = str(reason)
    if not works:
        raise Skipped("; ".join(dict.fromkeys(skipped.values())))
    return {
        "valid": all(one["valid"] for one in works.values()),
        "reasons": [f"{name}: {reason}" for name, one in works.items() for reason in one["reasons"]],
        "verdict": worst(one["verdict"] for one in works.values()),
        "headline": "; ".join(f"{name}: {one['says']}" for name, one in works.items()),
        "tables": tables(works),
        "works": works,
        "skipped": skipped,
    }
