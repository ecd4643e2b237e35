"""What a million inferences cost: a price per hour over the measured curve, and over what an SLO leaves of it.

At a batch of b rows back to back a machine serves b / tau(b) a second: that is the least a batch size can cost. Under an
SLO less is served: the highest rate whose p99 stays below it, found by simulation from the same curve (a prediction, and
named so; `batchproof tune` measures it).
"""

from __future__ import annotations

from typing import Any

from batchproof.bench.measurement import Bench, Price, Result
from batchproof.bench.oracle.curve import Curve
from batchproof.bench.oracle.prediction import predict
from batchproof.load.schedule import poisson
from batchproof.load.workload import MS, Skipped, Work
from batchproof.reference_batcher.config import BatcherConfig

MILLION = 1_000_000
MOST = 32  # max_batch_size of the configurations that an SLO is asked of
LIMITS = (1.5, 2, 4, 8, 16)  # SLOs, as multiples of what one request alone takes
REQUESTS = (40_000, 8_000)  # of a simulation: a p99 to within some percent
STEPS = 7  # of the bisection: 1 % of the capacity


def measure(bench: Bench) -> Result:
    """Compute from the curves; measures only a curve that is not there yet."""
    if bench.price is None:
        raise Skipped("no price was given: --price-per-hour X --currency EUR")
    works = {work.name: of_work(bench, work, bench.price) for work in bench.works}
    return {
        "valid": True,
        "reasons": [],
        "verdict": "",
        "headline": "; ".join(f"{name}: {one['says']}" for name, one in works.items()),
        "tables": [table for name, one in works.items() for table in _tables(name, one, bench.price)],
        "price_per_hour": bench.price.per_hour,
        "currency": bench.price.currency,
        "works": works,
    }


def per_million(price_per_hour: float, per_s: float) -> float | None:
    """Return what a million inferences cost at this rate; None at no rate at all."""
    return price_per_hour / 3600 / per_s * MILLION if per_s > 0 else None


def of_work(bench: Bench, work: Work, price: Price) -> Result:
    """Return the cost of each batch size, and of each SLO."""
    curve = bench.curve(work)
    batches = [
        {"rows": rows, "per_s": (per_s := rows * 1e9 / tau_ns), "cost": per_million(price.per_hour, per_s), "tau_ns": tau_ns}
        for rows, tau_ns in zip(curve.sizes, curve.tau_ns, strict=True)
    ]
    limits_ns = [round(many * curve.at(1)) for many in LIMITS]
    if bench.slo_ns:
        limits_ns = sorted({*limits_ns, bench.slo_ns})
    slos = []
    for limit_ns in limits_ns:
        bench.say(f"{work.name}: the cheapest below {limit_ns / MS:.3g} ms, in simulation")
        slos.append(_cheapest(bench, curve, limit_ns, price))
    cheapest = max(batches, key=lambda one: one["per_s"] or 0.0)
    return {
        "says": f"{cheapest['cost']:.4g} {price.currency} a million at {cheapest['rows']} rows, at best",
        "batches": batches,
        "slos": slos,
    }


def _cheapest(bench: Bench, curve: Curve, limit_ns: int, price: Price) -> Result:
    """The batch size that holds the SLO at the highest rate, without a queue delay, which saves nothing under load."""
    sizes = [size for size in curve.sizes if size <= MOST and curve.at(size) <= limit_ns]
    found = [(highest_rate(curve, size, limit_ns, bench.seed, REQUESTS[int(bench.quick)]), size) for size in sizes]
    rate, size = max(found, key=lambda one: (one[0], -one[1]), default=(0.0, 0))
    cost = per_million(price.per_hour, rate)
    return {"slo_ns": limit_ns, "max_batch_size": size or None, "predicted_per_s": rate, "cost": cost}


def highest_rate(curve: Curve, size: int, limit_ns: int, seed: int, requests: int) -> float:
    """Return the highest Poisson rate, in requests/s, at which the simulated p99 is at most limit_ns; 0.0: none is.

    Bisected on the share of the capacity, with one seed: the p99 rises with the rate on the same arrivals.
    """
    config, capacity = BatcherConfig(max_batch_size=size), curve.limit(size)

    def holds(share: float) -> bool:
        due_ns = poisson(share * capacity, requests / (share * capacity), seed, exact=True).due_ns
        p99_ns = predict(config, curve, due_ns).p99_ns
        return p99_ns is not None and p99_ns <= limit_ns

    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low * capacity


def _tables(name: str, one: Result, price: Price) -> list[dict[str, Any]]:
    unit = f"{price.currency} a million"
    batches = [[b["rows"], b["per_s"], b["tau_ns"] / MS, b["cost"]] for b in one["batches"]]
    slos = [[s["slo_ns"] / MS, s["max_batch_size"], s["predicted_per_s"] or None, s["cost"]] for s in one["slos"]]
    return [
        {"title": f"{name}: cost of full batches", "heads": ["rows", "requests/s", "latency ms", unit], "rows": batches},
        {
            "title": f"{name}: cost under an SLO",
            "heads": ["p99 at most ms", "max_batch_size", "requests/s (predicted)", unit],
            "rows": slos,
            "note": "Simulated from the measured curve under Poisson arrivals; '-': nothing holds it.",
        },
    ]
