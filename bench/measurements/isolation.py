"""Who suffers when somebody else is busy: two models on one target, then two priority levels in one model.

Model A is critical (a delay of 2 ms), model B does background work (a delay of 50 ms), and each has instances of its own. A
spike hits B; A's p99 and the share of its requests within the SLO are compared before, during and after. Then urgent and
other requests share one model: how many of the others are served, and how long they wait, against the urgent load.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from batchproof.bench.calibration import Calibrate, saturation
from batchproof.bench.fleet import together
from batchproof.bench.measurement import Bench
from batchproof.bench.result import Result
from batchproof.load.phases import Phase, Service, during, merged, phases, schedule, service
from batchproof.load.runs import Run, open_loop
from batchproof.load.samples import Samples
from batchproof.load.schedule import Schedule, poisson
from batchproof.load.workload import MS, WORKS, Served
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.stats import gates
from batchproof.stats.arrays import Ints
from batchproof.stats.gates import Conclusion
from batchproof.stats.percentile import fewest
from batchproof.targets.claims import unmet

A = BatcherConfig(max_batch_size=4, max_queue_delay_ns=2 * MS)
B = BatcherConfig(max_batch_size=4, max_queue_delay_ns=50 * MS)
A_LOAD, B_CALM, B_SPIKE = 0.4, 0.3, 2.0
LEVELS = BatcherConfig(max_batch_size=4, priority_levels=2, default_priority_level=2)
URGENT, OTHER = 1, 2
OTHER_LOAD = 0.3
URGENT_LOADS, QUICK_URGENT_LOADS = (0.1, 0.3, 0.5, 0.7, 0.9, 1.2), (0.5, 0.9)
SLO_BATCHES = 4  # A's SLO, where none was given: its delay and so many full batches
ENOUGH = fewest(99) + 2  # of two loads together, each rounded
FELT = 2.0  # the spike counts as one if it at least doubles B's own p99
WORK = WORKS["accelerator"]


@dataclass(frozen=True)
class Shared:
    """What became of loads that ran at the same time: the samples of each, in order, and why they are not a result.

    kept: the file of all samples within the report folder; there, `client` says which load a request belongs to.
    """

    samples: tuple[Samples, ...]
    reasons: tuple[str, ...]
    kept: str = ""


@dataclass(frozen=True)
class PhaseFigures:
    """One model in one phase. slo: whether 99 % of its requests are within the SLO; None if it had no requests."""

    service: Service
    slo: Conclusion | None

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        return {**self.service.facts(), "slo": self.slo.to_json() if self.slo else None}


@dataclass(frozen=True)
class Models:
    """A critical model A, and a model B that a spike hits: the figures of both by phase ("before", "during", "after").

    capacities: of A and B, in requests/s. reasons: why the figures are not a result. samples: the file of both, in which
    `client` is 0 for A and 1 for B.
    """

    slo_ns: int
    capacities: tuple[float, float]
    a: Mapping[str, PhaseFigures]
    b: Mapping[str, PhaseFigures]
    reasons: tuple[str, ...]
    samples: str = ""

    @property
    def valid(self) -> bool:
        """The figures are a result."""
        return not self.reasons

    @property
    def p99_ratio(self) -> float | None:
        """A's p99 during the spike to that before it; None if either is not known."""
        before_ns, during_ns = (self.a[name].service.p99_ns for name in ("before", "during"))
        return during_ns / before_ns if before_ns and during_ns else None

    @property
    def headline(self) -> str:
        """Say in one line what the spike does to A."""
        if not self.valid:
            return "isolation of models: no valid run"
        ratio = "an unknown value" if self.p99_ratio is None else f"{self.p99_ratio:.2f} x"
        attained = self.a["during"].service.attainment
        return f"a spike on B changes A's p99 to {ratio}, {attained:.1%} within {self.slo_ns / 1e6:.0f} ms"

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        both = {
            model: {name: part.facts() for name, part in parts.items()} for model, parts in (("A", self.a), ("B", self.b))
        }
        about = {"slo_ns": self.slo_ns, "capacities": dict(zip("AB", self.capacities, strict=True))}
        about |= {"reasons": list(self.reasons), "valid": self.valid, "headline": self.headline}
        about |= {"samples": self.samples}
        return about | ({**both, "p99_ratio": self.p99_ratio} if self.valid else {"discarded": both})


@dataclass(frozen=True)
class Starvation:
    """How badly requests starved while load was offered. The figures are None if no requests were sent.

    served_share: answered by then, as a share of all. longest_wait_ns: the longest time that a request had waited by then,
    answered or not. What is left over is served once the load ends, so later answers say nothing about the load.
    """

    served_share: float | None = None
    longest_wait_ns: int | None = None


@dataclass(frozen=True)
class LevelRow:
    """Urgent requests at `load`, a share of the capacity, and others. fluid_share: others served by the fluid limit.

    samples: the file of both, in which `client` is 0 for the urgent and 1 for the others.
    """

    load: float
    urgent: Service
    others: Service
    starvation: Starvation
    fluid_share: float
    reasons: tuple[str, ...]
    samples: str = ""

    @property
    def valid(self) -> bool:
        """The figures are a result."""
        return not self.reasons

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        seen = {"urgent": self.urgent.facts(), "others": self.others.facts(), **asdict(self.starvation)}
        seen |= {"fluid_share": self.fluid_share}
        about = {"load": self.load, "valid": self.valid, "reasons": list(self.reasons), "samples": self.samples}
        return about | (seen if self.valid else {"discarded": seen})


@dataclass(frozen=True)
class Levels:
    """Two priority levels in one model. capacity: requests/s without levels; spoilt: why it is not known."""

    capacity: float
    slo_ns: int
    rows: tuple[LevelRow, ...]
    spoilt: tuple[str, ...]

    @property
    def partly(self) -> bool:
        """Whether some of the figures are a result."""
        return not self.spoilt and any(row.valid for row in self.rows)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Every reason against the figures."""
        rows = tuple(f"urgent load {row.load:g}: {why}" for row in self.rows for why in row.reasons)
        return (*(f"levels: capacity: {why}" for why in self.spoilt), *rows)

    @property
    def headline(self) -> str:
        """Say in one line how many of the others are served."""
        told = [f"{row.starvation.served_share:.0%} at {row.load:g}" for row in self.rows if row.valid]
        return "others served by urgent load: " + (", ".join(told) or "no valid run")

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        return {
            "capacity": self.capacity,
            "slo_ns": self.slo_ns,
            "other_load": OTHER_LOAD,
            "rows": [row.facts() for row in self.rows],
            "partly": self.partly,
            "reasons": list(self.reasons),
            "headline": self.headline,
        }


@dataclass(frozen=True)
class Unclaimed:
    """Levels that the target does not claim, with the reason why they were skipped."""

    headline: str
    partly: bool = False
    reasons: tuple[str, ...] = ()

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        return {"skipped": self.headline, "partly": False, "reasons": [], "headline": self.headline}


@dataclass(frozen=True)
class Isolation:
    """Who suffers when another model, or a more urgent level, is busy."""

    models: Models
    levels: Levels | Unclaimed

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        return {"models": self.models.facts(), "levels": self.levels.facts()}


def measure(bench: Bench, _calibrate: Calibrate) -> Result:
    """Measure both; what the target does not claim is skipped with the reason."""
    missing = unmet(bench.target.info.claims, LEVELS.features())
    critical, background, leveled = (bench.fitted(config) for config in (A, B, LEVELS))
    with together(bench, WORK, (critical, background) if missing else (critical, background, leveled)) as serve:
        with serve(critical) as a, serve(background) as b:
            bench.say("isolation: capacity of A and of B")
            saturated = saturation(bench, a, critical), saturation(bench, b, background)
            models = of_models(bench, a, b, saturated, critical)
        levels: Levels | Unclaimed
        if missing:
            levels = Unclaimed(f"priority levels: {bench.target.info.name} does not claim '{missing}'")
        else:
            with serve(leveled) as served:
                levels = of_levels(bench, served, saturated[0], leveled.max_batch_size)
    reasons = (*models.reasons, *levels.reasons)
    return Result(
        valid=not reasons,
        headline=f"{models.headline}; {levels.headline}",
        reasons=reasons,
        partly=models.valid or levels.partly,
        found=Isolation(models, levels),
    )


def side_by_side(bench: Bench, name: str, served: Sequence[Served], loads: Sequence[Schedule], slo_ns: int) -> Shared:
    """Offer each load to its model at the same time; slo_ns: the latency that the first one must keep.

    One issuer sends all of them in the order of time, so that none waits for another's thread. Models in simulated time
    have a clock each and share no processor: they run one after another, and their isolation holds by construction.
    """
    if bench.target.simulated:
        pairs = zip(served, loads, strict=True)
        runs = [open_loop(one.submit, one.clock, load, wait_ns=bench.wait_ns) for one, load in pairs]
        each = tuple(run.samples for run in runs)
        reasons = tuple(why for run in runs for why in run.validity.reasons)
        return Shared(each, reasons, bench.record.samples(name, together_of(each)))
    both, whose = merged(*loads)
    to = [served[place] for place in whose.tolist()]

    def submit(number: int) -> Future[Any]:
        future: Future[Any] = to[number].submit(number)
        return future

    run = bench.valid(lambda: open_loop(submit, served[0].clock, both, wait_ns=bench.wait_ns, slo_ns=slo_ns))
    kept = _kept(bench, name, run, whose)
    return Shared(tuple(run.samples.part(whose == place) for place in range(len(loads))), run.validity.reasons, kept)


def together_of(each: Sequence[Samples]) -> Samples:
    """Return the samples of several loads as those of one run, in order of time; `client` says which load it was."""
    due = np.concatenate([one.scheduled_ns for one in each])
    order = np.argsort(due, kind="stable")
    whose = np.repeat(np.arange(len(each), dtype=np.int32), [one.count for one in each])
    columns = {one.name: np.concatenate([getattr(part, one.name) for part in each])[order] for one in fields(Samples)}
    return Samples(**{**columns, "client": whose[order]})


def _kept(bench: Bench, name: str, run: Run, whose: Ints) -> str:
    """Keep a run's samples with the load that each request belongs to; return the file's path in the report folder."""
    told = replace(run, samples=replace(run.samples, client=whose.astype(np.int32)))
    return str(bench.keep(name, told)["samples"])


def of_models(bench: Bench, a: Served, b: Served, saturated: tuple[Run, Run], config: BatcherConfig = A) -> Models:
    """Let A serve while a spike hits B; saturated: what each can serve; config: A's."""
    a_capacity, b_capacity = (run.throughput for run in saturated)
    slo_ns = bench.slo_ns or config.max_queue_delay_ns + round(SLO_BATCHES * config.max_batch_size / a_capacity * 1e9)
    each_second = 3 * A_LOAD * a_capacity + (2 * B_CALM + B_SPIKE) * b_capacity
    seconds = max(bench.seconds(8.0, 2.0), ENOUGH / each_second)
    steady = phases(*((name, seconds, A_LOAD * a_capacity) for name in ("before", "during", "after")))
    spike = phases(
        ("before", seconds, B_CALM * b_capacity),
        ("during", seconds, B_SPIKE * b_capacity),
        ("after", seconds, B_CALM * b_capacity),
    )
    bench.say("isolation: A serves, a spike hits B")
    loads = [schedule(steady, bench.seed, alike=True), schedule(spike, bench.seed + len(steady))]
    shared = side_by_side(bench, "isolation-models", [a, b], loads, slo_ns)
    of_a = by_phase(shared.samples[0], steady, slo_ns)
    of_b = by_phase(shared.samples[1], spike, slo_ns)
    spoilt = [f"capacity: {why}" for run in saturated for why in run.validity.reasons]
    reasons = tuple(f"models: {why}" for why in (*spoilt, *shared.reasons, *_unfelt(of_b)))
    return Models(slo_ns, (a_capacity, b_capacity), of_a, of_b, reasons, shared.kept)


def by_phase(samples: Samples, parts: Sequence[Phase], slo_ns: int) -> dict[str, PhaseFigures]:
    """Return the figures of each phase, with the verdict on "99 % are within slo_ns"."""
    found = {}
    for part in parts:
        inside = during(samples, part)
        verdict = gates.latency_within(inside.latency_ns, slo_ns) if inside.count else None
        found[part.name] = PhaseFigures(service(inside, slo_ns, part.seconds), verdict)
    return found


def _unfelt(b: Mapping[str, PhaseFigures]) -> list[str]:
    """A spike that B itself did not feel shows nothing about A."""
    calm_ns, hit_ns = b["before"].service.p99_ns, b["during"].service.p99_ns
    if calm_ns is None or hit_ns is None or hit_ns >= FELT * calm_ns:
        return []
    return [f"B did not feel the spike: its own p99 went from {calm_ns / MS:.2f} to {hit_ns / MS:.2f} ms"]


def of_levels(bench: Bench, served: Served, saturated: Run, size: int = LEVELS.max_batch_size) -> Levels:
    """Offer loads as shares of what the same model serves without levels: `saturated`. size: its max_batch_size."""
    capacity, rows = saturated.throughput, []
    slo_ns = bench.slo_ns or round((1 + SLO_BATCHES) * size / capacity * 1e9)
    for load in QUICK_URGENT_LOADS if bench.quick else URGENT_LOADS:
        bench.say(f"isolation: urgent requests at {load:g} of capacity, others at {OTHER_LOAD:g}")
        rows.append(_level_row(bench, served, load, capacity, slo_ns))
    return Levels(capacity, slo_ns, tuple(rows), saturated.validity.reasons)


def _level_row(bench: Bench, served: Served, load: float, capacity: float, slo_ns: int) -> LevelRow:
    seconds = max(bench.seconds(6.0, 1.5), ENOUGH / ((load + OTHER_LOAD) * capacity))
    both, whose = merged(
        poisson(load * capacity, seconds, bench.seed, exact=True),
        poisson(OTHER_LOAD * capacity, seconds, bench.seed + 1, exact=True),
    )
    levels = np.where(whose == 0, URGENT, OTHER).tolist()

    def submit(number: int) -> Future[Any]:
        return served.submit(number, priority=levels[number])

    run = bench.valid(lambda: open_loop(submit, served.clock, both, wait_ns=bench.wait_ns, slo_ns=slo_ns))
    kept = _kept(bench, f"isolation-levels-{load:g}", run, whose)
    urgent, others = run.samples.part(whose == 0), run.samples.part(whose == 1)
    return LevelRow(
        load,
        service(urgent, slo_ns, seconds),
        service(others, slo_ns, seconds),
        starvation(others, round(seconds * 1e9)),
        min(1.0, max(0.0, (1 - load) / OTHER_LOAD)),
        run.validity.reasons,
        kept,
    )


def starvation(samples: Samples, end_ns: int) -> Starvation:
    """Return how badly requests starved while load was offered, that is until end_ns."""
    if not samples.count:
        return Starvation()
    by_then = np.minimum(samples.done_ns, end_ns) - samples.scheduled_ns
    served = samples.answered & (samples.done_ns <= end_ns)
    return Starvation(float(np.mean(served)), int(by_then.max()))
