"""The measurements of engines as figures: one function for each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from batchproof.bench.each_work import Works
from batchproof.bench.engines.calibration import Saturation
from batchproof.bench.engines.clients import NAMES, Clients
from batchproof.bench.engines.latency import Latency, Loaded, quantile
from batchproof.bench.engines.prefill import Prefill
from batchproof.bench.engines.surge import Surge
from batchproof.bench.figures.of_run import latencies
from batchproof.reports.figure_names import figure
from batchproof.reports.figures import Figure

PERCENTS = {"p50_ns": 50, "p90_ns": 90, "p99_ns": 99}


def saturation(found: Works[Saturation]) -> tuple[Figure, ...]:
    """Return the highest throughput of each work, and the engine's own overhead."""
    return tuple(one for name, work in found.works.items() for one in _saturation(name, work))


def latency(found: Works[Latency]) -> tuple[Figure, ...]:
    """Return the times under each load, and the share that meets the objective."""
    return tuple(
        one for name, work in found.works.items() for row in work.rows for one in _loaded(name, row, known=not work.spoilt)
    )


def prefill(found: Works[Prefill]) -> tuple[Figure, ...]:
    """Return the times between two tokens of short requests, alone and alongside long prompts."""
    return tuple(one for name, work in found.works.items() for one in _prefill(name, work))


def surge(found: Works[Surge]) -> tuple[Figure, ...]:
    """Return the goodput under overload, and the recovery time after a surge."""
    return tuple(one for name, work in found.works.items() for one in _surge(name, work))


def clients(found: Works[Clients]) -> tuple[Figure, ...]:
    """Return what each of two clients gets."""
    return tuple(one for name, work in found.works.items() for one in _clients(name, work))


def _saturation(work: str, found: Saturation) -> Iterator[Figure]:
    about: dict[str, Any] = {"n": found.run.samples.count, "valid": found.valid, "work": work}
    yield figure("saturation.tokens_per_s", found.run.tokens_per_s, **about)
    yield figure("saturation.requests_per_s", found.run.requests_per_s, **about)
    if found.of_limit is not None:
        yield figure("saturation.of_limit", found.of_limit, **about)
    if found.overhead_ns is not None:
        yield figure("saturation.overhead_ns", found.overhead_ns, **{**about, "n": len(found.run.lines)})


def _loaded(work: str, row: Loaded, *, known: bool) -> Iterator[Figure]:
    samples, valid = row.run.samples, row.run.valid and known
    for name, values in (("ttft", samples.ttft_ns), ("itl", samples.gap_ns), ("e2e", samples.latency_ns)):
        yield from latencies(name, values, percents=PERCENTS, valid=valid, work=work, load=row.load)
    about: dict[str, Any] = {"n": samples.count, "valid": valid, "work": work, "load": row.load}
    yield figure("goodput.requests_per_s", row.run.goodput(row.objective), **about)
    yield figure("goodput.share", row.within, **about)
    for name, ratio in (row.oracle.ratios if row.oracle else {}).items():
        yield figure(f"simulated.{name}_ratio", ratio, **{**about, "valid": not row.run.wrong})


def _prefill(work: str, found: Prefill) -> Iterator[Figure]:
    for name, side in found.sides.items():
        if (p99_ns := quantile(side.gap_ns, 99)) is not None:
            about: dict[str, Any] = {"n": len(side.gap_ns), "valid": side.run.valid and not found.spoilt}
            yield figure("prefill.itl_p99_ns", p99_ns, **about, work=work, side=name.partition(" ")[0])
    if found.ratio is not None:
        yield figure("prefill.itl_p99_ratio", found.ratio, valid=found.valid, work=work)


def _surge(work: str, found: Surge) -> Iterator[Figure]:
    for row in found.rows:
        about: dict[str, Any] = {"n": row.run.samples.count, "valid": row.run.valid and not found.spoilt}
        about |= {"work": work, "load": row.load}
        yield figure("surge.goodput_requests_per_s", row.goodput, **about)
        if found.capacity:
            yield figure("surge.goodput_share", row.goodput / found.capacity, **about)
    if found.recovery.recovery_ns is not None:
        valid = found.recovery.run.valid and not found.spoilt
        yield figure("surge.recovery_ns", found.recovery.recovery_ns, valid=valid, work=work)


def _clients(work: str, found: Clients) -> Iterator[Figure]:
    for name in NAMES:
        one = found.shares[name]
        about: dict[str, Any] = {"n": one.requests, "valid": found.valid, "work": work, "client": name}
        yield figure("clients.served_share", one.served, **about)
        yield figure("clients.goodput_share", one.within, **about)
    if found.least_to_mean is not None:
        yield figure("clients.least_to_mean", found.least_to_mean, valid=found.valid, work=work)
