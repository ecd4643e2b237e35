"""Overload: 0.5 to 3 times the capacity is offered, open loop, without a queue limit and with those that the target claims.

The questions: how much is answered within the SLO (goodput)? What is refused, and how? Does the queue stay bounded? How long
does it take after a spike until the latency is back? Are some clients served less than others?
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from batchproof.bench.calibration import Calibrate, saturation
from batchproof.bench.fleet import together
from batchproof.bench.measurement import Bench
from batchproof.bench.result import Result
from batchproof.load.phases import Phase, Service, during, most_inside, phases, quantile, schedule, service
from batchproof.load.samples import Samples
from batchproof.load.schedule import poisson
from batchproof.load.workload import WORKS, Served
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.stats.percentile import fewest
from batchproof.targets.claims import unmet, value_of

LOADS = (0.5, 0.8, 1.0, 1.5, 2.0, 3.0)
QUICK_LOADS = ((0.5, 3.0), (3.0,))  # without a queue limit, with one
MAX_BATCH = 4  # small, so that three times the capacity is still a rate that one Python client can send
WAITING = 2  # batches that may wait where the queue has a limit
SLO_BATCHES = 6  # the SLO, where none was given, in full batches: the limited queue, one under way, one's own, some slack
CLIENTS = 8
BACK = 1.5  # recovered: the median of the next requests is at most this many times the median before the spike
WINDOW = 50
ENOUGH = fewest(99) + 3  # requests of a run, so that p99 has a bound
CALM, SPIKE = 0.5, 3.0
QUICK_SPIKES = 2  # one without a queue limit and one with: what decides is how short the queue is, and not what keeps it so
WORK = WORKS["accelerator"]


@dataclass(frozen=True)
class QueueLimit:
    """A way to keep a queue short, and the features that a target needs for it."""

    name: str
    config: BatcherConfig
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fairness:
    """How evenly clients are answered, by the share of its requests that each gets answered. None if nobody is answered.

    least_to_mean: for the client that is served least (1: all alike). jain: (sum x)^2 / (n sum x^2), which is 1 if all are
    served alike and 1/n if one gets everything (Jain, Chiu, Hawe 1984).
    """

    least_to_mean: float | None = None
    jain: float | None = None


@dataclass(frozen=True)
class Overloaded:
    """What becomes of one load, as a share of the capacity.

    bound: how many requests may be inside by max_queue_size; None: any number. most_inside: how many were inside. growth: by
    how many seconds the latency grows in a second of load. overtaken: the share of answers that came after that of a later
    request.
    host: what the host did. reasons: why these figures are not a result. samples: their file within the report folder.
    """

    limit: str
    load: float
    bound: int | None
    service: Service
    fairness: Fairness
    most_inside: int
    growth: float | None
    overtaken: float
    host: Mapping[str, Any]
    reasons: tuple[str, ...] = ()
    samples: str = ""

    @property
    def valid(self) -> bool:
        """The figures are a result."""
        return not self.reasons

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        about = {"limit": self.limit, "load": self.load, "valid": self.valid, "reasons": list(self.reasons)}
        about |= {"host": dict(self.host), "bound": self.bound, "samples": self.samples}
        seen = {**self.service.facts(), **asdict(self.fairness), "most_inside": self.most_inside}
        seen |= {"growth": self.growth, "overtaken": self.overtaken}
        return about | (seen if self.valid else {"discarded": seen})


@dataclass(frozen=True)
class Spike:
    """What becomes of a spike. recovery_ns: how long until the latency is back; expected_ns: by theory, without a limit.

    samples: the run's file within the report folder.
    """

    limit: str
    recovery_ns: int | None
    expected_ns: int | None
    phases: Mapping[str, Service]
    reasons: tuple[str, ...] = ()
    samples: str = ""

    @property
    def valid(self) -> bool:
        """The figures are a result."""
        return not self.reasons

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        seen = {
            "recovery_ns": self.recovery_ns,
            "expected_ns": self.expected_ns,
            "phases": {name: part.facts() for name, part in self.phases.items()},
        }
        about = {"limit": self.limit, "valid": self.valid, "reasons": list(self.reasons), "samples": self.samples}
        return about | (seen if self.valid else {"discarded": seen})


@dataclass(frozen=True)
class Overload:
    """What overload does to a target. capacity: requests/s; spoilt: why it is not known; skipped: limits without a claim."""

    capacity: float
    slo_ns: int
    rows: tuple[Overloaded, ...]
    spikes: tuple[Spike, ...]
    skipped: tuple[str, ...]
    spoilt: tuple[str, ...] = ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """Every reason against the figures."""
        return (
            *(f"capacity: {why}" for why in self.spoilt),
            *(f"{row.limit} at {row.load:g}: {why}" for row in self.rows for why in row.reasons),
            *(f"{spike.limit}, spike: {why}" for spike in self.spikes for why in spike.reasons),
        )

    @property
    def headline(self) -> str:
        """Say in one line what overload does to goodput, by queue limit."""
        worst = [row for row in self.rows if row.valid and row.load == SPIKE]
        if not worst:
            return "no valid run at three times the capacity"
        told = ", ".join(f"{row.limit} {row.service.goodput / self.capacity:.0%}" for row in worst)
        within = f"within {self.slo_ns / 1e6:.0f} ms"
        return f"at {SPIKE:g} x capacity ({self.capacity:.0f}/s) answered {within}, of capacity: {told}"

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        return {
            "capacity": self.capacity,
            "slo_ns": self.slo_ns,
            "clients": CLIENTS,
            "rows": [row.facts() for row in self.rows],
            "spikes": [spike.facts() for spike in self.spikes],
            "skipped": list(self.skipped),
        }


def measure(bench: Bench, _calibrate: Calibrate) -> Result:
    """Offer each load to each queue limit, then a spike to each; every row says whether it is valid."""
    plain, claims = bench.fitted(BatcherConfig(max_batch_size=MAX_BATCH)), bench.target.info.claims
    rows: list[Overloaded] = []
    spikes: list[Spike] = []
    with bench.serve(WORK, plain) as served:
        bench.say("overload: capacity")
        saturated = saturation(bench, served, plain)
        capacity = saturated.throughput
        full_ns = round(plain.max_batch_size / capacity * 1e9)
        slo_ns = bench.slo_ns or SLO_BATCHES * full_ns
        free = QueueLimit("no limit", plain)
        rows += _loaded(bench, served, free, capacity, slo_ns)
        spikes.append(_spike(bench, served, free, capacity, slo_ns))
    asked, skipped = [], []
    whole = value_of(claims, "timeout_covers") == "request"
    for limit in queue_limits(plain, slo_ns, full_ns, whole=whole):
        if missing := unmet(claims, limit.needs):
            skipped.append(f"{limit.name}: {bench.target.info.name} does not claim '{missing}'")
        else:
            asked.append(limit)
    with together(bench, WORK, [limit.config for limit in asked]) as serve:
        for limit in asked:
            with serve(limit.config) as served:
                rows += _loaded(bench, served, limit, capacity, slo_ns)
                if not bench.quick or len(spikes) < QUICK_SPIKES:
                    spikes.append(_spike(bench, served, limit, capacity, slo_ns))
    found = Overload(capacity, slo_ns, tuple(rows), tuple(spikes), tuple(skipped), saturated.validity.reasons)
    return Result(
        valid=not found.reasons,
        headline=found.headline,
        reasons=found.reasons,
        partly=saturated.valid and any(row.valid for row in rows),
        found=found,
    )


def loads(bench: Bench, limit: QueueLimit) -> tuple[float, ...]:
    """Return the loads, as shares of the capacity."""
    return QUICK_LOADS[int(bool(limit.needs))] if bench.quick else LOADS


def queue_limits(plain: BatcherConfig, slo_ns: int, full_ns: int, *, whole: bool = False) -> tuple[QueueLimit, ...]:
    """Return a limit on the number of requests, and one on their waiting time (what the SLO leaves for waiting).

    whole: the target's timeout limits the whole request, and so the SLO is the limit.
    """
    size = WAITING * plain.max_batch_size * plain.instances
    wait_ns = max(1_000, (slo_ns - (0 if whole else 2 * full_ns)) // 1_000 * 1_000)
    return (
        QueueLimit("max_queue_size", replace(plain, max_queue_size=size), ("max_queue_size",)),
        QueueLimit("queue timeout", replace(plain, queue_timeout_ns=wait_ns), ("queue_timeout",)),
    )


def _loaded(bench: Bench, served: Served, limit: QueueLimit, capacity: float, slo_ns: int) -> list[Overloaded]:
    rows = []
    for load in loads(bench, limit):
        bench.say(f"overload: {limit.name}, {load:g} of capacity")
        rows.append(_load(bench, served, limit, load, capacity, slo_ns))
    return rows


def _load(bench: Bench, served: Served, limit: QueueLimit, load: float, capacity: float, slo_ns: int) -> Overloaded:
    seconds = max(bench.seconds(5.0, 2.0), ENOUGH / (load * capacity))
    arrivals = poisson(load * capacity, seconds, bench.seed, exact=True)
    run = bench.valid(lambda: bench.open_loop(served, arrivals, slo_ns=slo_ns))
    kept = bench.keep(f"overload-{limit.name}-{load:g}", run)
    samples = with_clients(run.samples, bench.seed)
    return Overloaded(
        limit.name,
        load,
        bound(limit.config),
        service(samples, slo_ns, seconds),
        fairness(samples),
        most_inside(samples),
        growth(samples),
        overtaken(samples),
        kept["host"],
        run.validity.reasons,
        kept["samples"],
    )


def _spike(bench: Bench, served: Served, limit: QueueLimit, capacity: float, slo_ns: int) -> Spike:
    bench.say(f"overload: {limit.name}, a spike of {SPIKE:g} times the capacity")
    drains = (SPIKE - 1) / (1 - CALM)  # without a limit a second of spike takes so long to drain: see it through
    seconds = max(bench.seconds(3.0, 0.6), ENOUGH / (capacity * (CALM + SPIKE + CALM * (drains + 1))))
    parts = phases(
        ("before", seconds, CALM * capacity),
        ("spike", seconds, SPIKE * capacity),
        ("after", seconds * (drains + 1), CALM * capacity),
    )
    arrivals = schedule(parts, bench.seed)
    run = bench.valid(lambda: bench.open_loop(served, arrivals, slo_ns=slo_ns))
    kept = bench.keep(f"overload-{limit.name}-spike", run)
    return Spike(
        limit.name,
        recovery_ns(run.samples, parts[0], parts[1].end_ns),
        None if limit.needs else round(parts[1].seconds * drains * 1e9),
        {part.name: service(during(run.samples, part), slo_ns, part.seconds) for part in parts},
        run.validity.reasons,
        kept["samples"],
    )


def with_clients(samples: Samples, seed: int, clients: int = CLIENTS) -> Samples:
    """Return the samples with each request given to a client by lot: the target has no reason to prefer one."""
    return replace(samples, client=np.random.default_rng(seed).integers(0, clients, samples.count, dtype=np.int32))


def bound(config: BatcherConfig) -> int | None:
    """Return how many requests may be inside by max_queue_size: waiting, and in the model; None: any number."""
    return config.max_queue_size + config.instances * config.max_batch_size if config.max_queue_size else None


def fairness(samples: Samples) -> Fairness:
    """Return how evenly clients are answered."""
    sent = np.bincount(samples.client)
    got = np.bincount(samples.client, weights=samples.answered, minlength=sent.size)[sent > 0]
    share = got / sent[sent > 0]
    if not share.size or not share.any():
        return Fairness()
    return Fairness(float(share.min() / share.mean()), float(share.sum() ** 2 / (share.size * (share @ share))))


def overtaken(samples: Samples) -> float:
    """Return the share of answered requests that came back after one that was sent later."""
    asked = samples.answered
    done = samples.done_ns[asked][np.argsort(samples.sent_ns[asked], kind="stable")]
    if done.size < 2:
        return 0.0
    soonest_later = np.minimum.accumulate(done[::-1])[::-1]
    return float(np.count_nonzero(done[:-1] > soonest_later[1:]) / done.size)


def growth(samples: Samples) -> float | None:
    """Return by how many seconds the latency grows in a second of load: about load - 1 without a limit, 0 in a steady state.

    It is the slope of the least-squares line of answered requests' latency against the time at which they were due; None
    with fewer than 3 of them.
    """
    asked = samples.answered
    x: npt.NDArray[np.float64] = samples.scheduled_ns[asked].astype(np.float64)
    y: npt.NDArray[np.float64] = samples.latency_ns[asked].astype(np.float64)
    if x.size < 3 or not np.ptp(x):
        return None
    x = x - x.mean()
    return float(x @ y / (x @ x))


def recovery_ns(samples: Samples, before: Phase, spike_end_ns: int) -> int | None:
    """Return how long after the spike the latency is back; None if it is not while the load lasts, or if nothing is known.

    Back: from here on 50 requests in a row have a median of at most 1.5 times the median before the spike. A refusal counts
    as an infinite latency, so a target that recovers by refusing everybody does not recover.
    """
    was = quantile(during(samples, before).latency_ns, 50)
    after = samples.scheduled_ns >= spike_end_ns
    late, due = samples.latency_ns[after], samples.scheduled_ns[after]
    if was is None or late.size < WINDOW:
        return None
    good = late <= BACK * was
    enough = np.convolve(good, np.ones(WINDOW, dtype=np.int64), "valid") * 2 > WINDOW
    return int(due[np.argmax(enough)]) - spike_end_ns if enough.any() else None
