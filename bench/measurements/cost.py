"""What a million inferences cost: a price per hour over the measured curve, and over what an SLO leaves of it.

With batches of b rows back to back a machine serves b / tau(b) rows a second: that is the least that a batch size can cost.
Under an SLO less is served: the highest rate whose p99 stays below it. That rate is found by simulation from the same curve,
so it is a prediction and called one; `batchproof tune` measures it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from batchproof.bench.calibration import Calibrate
from batchproof.bench.each_work import measured, summed_up
from batchproof.bench.measurement import Bench, Price
from batchproof.bench.oracle.curve import Curve
from batchproof.bench.oracle.prediction import predict
from batchproof.bench.result import Result
from batchproof.load.schedule import poisson
from batchproof.load.workload import MS, Skipped, Work
from batchproof.reference_batcher.config import BatcherConfig

MILLION = 1_000_000
MOST = 32  # the largest max_batch_size that is tried under an SLO
SLOS = (1.5, 2, 4, 8, 16)  # as multiples of what one request alone takes
REQUESTS = (40_000, 8_000)  # of a simulation: a p99 to within some percent
STEPS = 7  # of the bisection: 1 % of the capacity


@dataclass(frozen=True)
class BatchCost:
    """Full batches of so many rows, back to back. per_s: rows a second. cost: of a million of them, in the currency.

    cost_low, cost_high: if the service time is at either bound of its interval; None where that has no bound.
    """

    rows: int
    per_s: float
    cost: float | None
    tau_ns: int
    cost_low: float | None = None
    cost_high: float | None = None


@dataclass(frozen=True)
class SloCost:
    """The cheapest configuration whose predicted p99 is at most slo_ns. If no configuration is: None, 0.0 and None.

    cost_low, cost_high: of the same configuration, predicted with every service time at its lower or upper bound; None where
    a bound is not known, or nothing keeps the SLO then.
    """

    slo_ns: int
    max_batch_size: int | None
    predicted_per_s: float
    cost: float | None
    cost_low: float | None = None
    cost_high: float | None = None


@dataclass(frozen=True)
class WorkCost:
    """What a million inferences of one work cost."""

    batches: tuple[BatchCost, ...]
    slos: tuple[SloCost, ...]
    currency: str
    valid: bool = True
    reasons: tuple[str, ...] = ()
    verdict: str = ""

    @property
    def says(self) -> str:
        """Its part of the headline."""
        cheapest = max(self.batches, key=lambda one: one.per_s)
        return f"{cheapest.cost:.4g} {self.currency} a million at {cheapest.rows} rows, at best"

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        return {
            "says": self.says,
            "batches": [asdict(one) for one in self.batches],
            "slos": [asdict(one) for one in self.slos],
        }


@dataclass(frozen=True)
class Cost:
    """What a million inferences cost, by work."""

    price: Price
    works: Mapping[str, WorkCost]

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        works = {name: one.facts() for name, one in self.works.items()}
        return {"price_per_hour": self.price.per_hour, "currency": self.price.currency, "works": works}


def measure(bench: Bench, calibrate: Calibrate) -> Result:
    """Compute the costs from the curves. Only a curve that is not known yet is measured."""
    if bench.price is None:
        raise Skipped("no price was given: --price-per-hour X --currency EUR")
    found = measured(bench.works, partial(of_work, bench, calibrate, bench.price))
    return Result(valid=True, headline=summed_up(found).headline, found=Cost(bench.price, found.works))


def per_million(price_per_hour: float, per_s: float) -> float | None:
    """Return what a million inferences cost at this rate; None if the rate is 0."""
    return price_per_hour / 3600 / per_s * MILLION if per_s > 0 else None


def of_work(bench: Bench, calibrate: Calibrate, price: Price, work: Work) -> WorkCost:
    """Return the cost of each batch size, and of each SLO."""
    calibration = calibrate(work)
    curve, bounds = calibration.curve, calibration.bounds
    batches = []
    for at, (rows, tau_ns) in enumerate(zip(curve.sizes, curve.tau_ns, strict=True)):
        per_s = rows * 1e9 / tau_ns
        low, high = (per_million(price.per_hour, rows * 1e9 / one.tau_ns[at]) if one else None for one in bounds)
        batches.append(BatchCost(rows, per_s, per_million(price.per_hour, per_s), tau_ns, low, high))
    slos_ns = [round(many * curve.at(1)) for many in SLOS]
    if bench.slo_ns:
        slos_ns = sorted({*slos_ns, bench.slo_ns})
    slos = []
    for slo_ns in slos_ns:
        bench.say(f"{work.name}: the cheapest below {slo_ns / MS:.3g} ms, in simulation")
        slos.append(_cheapest(bench, curve, bounds, slo_ns, price))
    return WorkCost(tuple(batches), tuple(slos), price.currency)


def _cheapest(bench: Bench, curve: Curve, bounds: Sequence[Curve | None], slo_ns: int, price: Price) -> SloCost:
    """The batch size that holds the SLO at the highest rate, without a queue delay, which saves nothing under load."""
    sizes = [size for size in curve.sizes if size <= MOST and curve.at(size) <= slo_ns]
    requests = REQUESTS[int(bench.quick)]
    found = [(highest_rate(curve, size, slo_ns, bench.seed, requests), size) for size in sizes]
    rate, size = max(found, key=lambda one: (one[0], -one[1]), default=(0.0, 0))
    rates = [highest_rate(one, size, slo_ns, bench.seed, requests) if one and rate else 0.0 for one in bounds]
    cost, low, high = (per_million(price.per_hour, one) for one in (rate, *rates))
    # On the same arrivals the highest rate is not quite monotonic in the service times: the interval holds the estimate.
    low, high = min(low, cost) if low and cost else low, max(high, cost) if high and cost else high
    return SloCost(slo_ns, size or None, rate, cost, low, high)


def highest_rate(curve: Curve, size: int, slo_ns: int, seed: int, requests: int) -> float:
    """Return the highest Poisson rate, in requests/s, at which the simulated p99 is at most slo_ns; 0.0 if no rate is.

    Bisected on the share of the capacity, with one seed: the p99 rises with the rate on the same arrivals.
    """
    config, capacity = BatcherConfig(max_batch_size=size), curve.max_throughput(size)

    def holds(share: float) -> bool:
        due_ns = poisson(share * capacity, requests / (share * capacity), seed, exact=True).due_ns
        p99_ns = predict(config, curve, due_ns).p99_ns
        return p99_ns is not None and p99_ns <= slo_ns

    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low * capacity
