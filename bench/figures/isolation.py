"""Who suffers when another model, or a more urgent level, is busy: as figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from batchproof.bench.measurements.isolation import Isolation, LevelRow, Levels, Models
from batchproof.reports.figure_names import figure
from batchproof.reports.figures import Figure


def figures(found: Isolation) -> tuple[Figure, ...]:
    """Return what a spike on B does to A, then what urgent requests do to others."""
    levels = found.levels.rows if isinstance(found.levels, Levels) else ()
    spoilt = isinstance(found.levels, Levels) and bool(found.levels.spoilt)
    rows = (one for row in levels for one in _of_level(row, spoilt=spoilt))
    return (*_of_models(found.models), *rows)


def _of_models(found: Models) -> Iterator[Figure]:
    valid = found.valid
    for model, per_s in zip("AB", found.capacities, strict=True):
        yield figure("isolation.capacity_rows_per_s", per_s, valid=valid, model=model)
    for phase, part in found.a.items():
        told, n = part.service, part.service.requests
        for name, value in (("p50_ns", told.p50_ns), ("p99_ns", told.p99_ns)):
            if value is not None:
                yield figure(f"isolation.{name}", value, n=n, valid=valid, phase=phase)
        if part.slo is not None and part.slo.estimate is not None:
            high = None if part.slo.low is None else 1 - part.slo.low
            low = None if part.slo.high is None else 1 - part.slo.high
            share: dict[str, Any] = {"low": low, "high": high, "n": part.slo.effective, "valid": valid}
            yield figure("isolation.within_slo", 1 - part.slo.estimate, **share, phase=phase)
    if found.p99_ratio is not None:
        yield figure("isolation.p99_ratio", found.p99_ratio, n=found.a["during"].service.requests, valid=valid)


def _of_level(row: LevelRow, *, spoilt: bool) -> Iterator[Figure]:
    known: dict[str, Any] = {"n": row.urgent.requests, "valid": row.valid and not spoilt, "load": row.load}
    if row.urgent.p99_ns is not None:
        yield figure("isolation.urgent_p99_ns", row.urgent.p99_ns, **known)
    known |= {"n": row.others.requests}
    if row.starvation.served_share is not None:
        yield figure("isolation.others_served", row.starvation.served_share, **known)
    if row.starvation.longest_wait_ns is not None:
        yield figure("isolation.others_longest_wait_ns", row.starvation.longest_wait_ns, **known)
