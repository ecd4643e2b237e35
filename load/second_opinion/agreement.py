"""Do two load generators agree? Pure: from pairs of figures to verdicts and a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

import numpy as np

from batchproof.load.runs import Run
from batchproof.load.second_opinion.opinion import Opinion
from batchproof.stats import gates
from batchproof.stats.arrays import NEVER, Ints
from batchproof.stats.gates import FAIL, INCONCLUSIVE, PASS, Answer, within
from batchproof.stats.percentile import percentile

THROUGHPUT, P50 = 0.05, 0.10  # of ours: more than this is a difference that must be explained


@dataclass(frozen=True)
class Side:
    """The figures of one run. latency_p50_ns: by its own clock; service_p50_ns: from the actual send; None if not known."""

    tool: str
    clock: str
    throughput: float
    latency_p50_ns: int | None
    latency_p99_ns: int | None
    service_p50_ns: int | None
    lag_p50_ns: int | None
    reasons: tuple[str, ...] = ()

    @classmethod
    def of_run(cls, run: Run) -> Side:
        """Our own, even if the run is invalid: the pair is then shown and not judged."""
        samples = run.samples
        p50, p99 = _percentile(samples.latency_ns, 50.0), _percentile(samples.latency_ns, 99.0)
        service, lag = _percentile(samples.service_ns, 50.0), _percentile(samples.lag_ns, 50.0)
        return cls("batchproof", "schedule", run.throughput, p50, p99, service, lag, run.validity.reasons)

    @classmethod
    def nothing(cls, tool: str, why: str) -> Side:
        """The side of a tool that gave no result."""
        return cls(tool, "", 0.0, None, None, None, None, (why,))

    @classmethod
    def of_opinion(cls, opinion: Opinion) -> Side:
        """What the other tool says."""
        latency, service = opinion.latency_ns(), opinion.service_ns()
        lag = _percentile(opinion.samples.lag_ns, 50.0) if opinion.samples and opinion.due else None
        figures = (opinion.throughput, latency["p50"], latency["p99"], service["p50"], lag)
        return cls(opinion.tool, opinion.clock, *figures, opinion.reasons)


@dataclass(frozen=True)
class Pair:
    """Both generators, one right after the other. latency: their latencies mean the same."""

    name: str
    ours: Side
    theirs: Side
    latency: bool = True

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the round is not judged."""
        ours = tuple(f"ours: {reason}" for reason in self.ours.reasons)
        return ours + self.theirs.reasons

    def facts(self) -> dict[str, Any]:
        """Return it as JSON can have it."""
        return asdict(self)


@dataclass(frozen=True)
class Judged:
    """All rounds of one comparison. Ratios are theirs to ours, the median of the valid rounds.

    verdict: PASS (they agree, or `why` explains the difference), FAIL (nothing explains it), INCONCLUSIVE (no round was
    valid, and `why` says why). The medians are taken as they are (`gates.figure`): so few rounds have no interval, and the
    tolerance has room for their noise.
    """

    name: str
    tool: str
    rounds: int
    valid: int
    ours: tuple[float, ...]  # throughput per second, p50 and p99 in ms: medians of the valid rounds, or else of all
    theirs: tuple[float, ...]
    throughput: float | None
    p50: float | None
    p99: float | None
    service_p50: float | None
    verdict: Answer
    why: str

    def facts(self) -> Mapping[str, Any]:
        """Return it as JSON can have it."""
        return asdict(self)


def agreement(pairs: Iterable[Pair]) -> list[Judged]:
    """Judge each comparison over its rounds, in the order in which they first occur."""
    groups: dict[str, list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(pair.name, []).append(pair)
    return [_judged(group) for group in groups.values()]


def _judged(group: Sequence[Pair]) -> Judged:
    first, good = group[0], [pair for pair in group if not pair.reasons]
    shown = good or [pair for pair in group if pair.theirs.throughput] or group
    ours, theirs = _figures([pair.ours for pair in shown]), _figures([pair.theirs for pair in shown])
    throughput = _ratio((pair.theirs.throughput, pair.ours.throughput) for pair in shown)
    p50 = p99 = service = None
    if first.latency:
        p50 = _ratio((pair.theirs.latency_p50_ns, pair.ours.latency_p50_ns) for pair in shown)
        p99 = _ratio((pair.theirs.latency_p99_ns, pair.ours.latency_p99_ns) for pair in shown)
        service = _ratio((pair.theirs.service_p50_ns, pair.ours.service_p50_ns) for pair in shown)
    if good:
        verdict, why = _verdict(first, throughput, p50, service)
    else:
        verdict, why = INCONCLUSIVE, f"no valid round: {group[0].reasons[0]}"
    name, tool = first.name, first.theirs.tool
    return Judged(name, tool, len(group), len(good), ours, theirs, throughput, p50, p99, service, verdict, why)


def _verdict(pair: Pair, throughput: float | None, p50: float | None, service: float | None) -> tuple[Answer, str]:
    """p99 is not judged: in a queue, that of a few thousand requests differs too much between two runs."""
    if not _near(throughput, THROUGHPUT):
        return FAIL, "not the same throughput: see whether either had too little processor time"
    if not pair.latency:
        return PASS, ""
    if _near(p50, P50):
        return PASS, ""
    near = _near(service, P50)
    if near and pair.theirs.clock == "send":
        return PASS, f"explained: its clock starts at the actual send: against our service latency its p50 is {service:.2f}"
    if near:
        return PASS, f"explained: it sends later than ours: from the actual send on its p50 is {service:.2f} of ours"
    if p50 is None:
        return FAIL, "one of the two has no p50 to compare"
    seen = "unknown" if service is None else f"{service:.2f}"
    return FAIL, f"p50 {p50:.2f} of ours; from the actual send {seen}: nothing here explains it"


def _near(ratio: float | None, tolerance: float) -> bool:
    return gates.figure(ratio, within(1 - tolerance, 1 + tolerance)).verdict == PASS


def lines(judged: Iterable[Judged]) -> list[str]:
    """Return the table as Markdown."""
    titles = ("load", "tool", "valid rounds", "ours: 1/s, p50, p99", "theirs", "throughput", "p50", "p99", "p50 from send")
    table = [f"| {' | '.join(titles)} | verdict |", "|---" * (len(titles) + 1) + "|"]
    for one in judged:
        ratios = " | ".join(
            "" if value is None else f"{value:.3f}" for value in (one.throughput, one.p50, one.p99, one.service_p50)
        )
        word = f"{one.verdict}: {one.why}" if one.why else one.verdict
        rounds = f"{one.valid} of {one.rounds}"
        table.append(f"| {one.name} | {one.tool} | {rounds} | {_cell(one.ours)} | {_cell(one.theirs)} | {ratios} | {word} |")
    return table


def _figures(sides: Sequence[Side]) -> tuple[float, ...]:
    rows = ((side.throughput, (side.latency_p50_ns or 0) / 1e6, (side.latency_p99_ns or 0) / 1e6) for side in sides)
    return tuple(float(value) for value in np.median(np.array(list(rows)), axis=0))


def _cell(figures: Sequence[float]) -> str:
    return f"{figures[0]:.0f}, {figures[1]:.2f} ms, {figures[2]:.2f} ms" if figures[0] else "no result"


def _ratio(values: Iterable[tuple[float | None, float | None]]) -> float | None:
    ratios = [theirs / ours for theirs, ours in values if theirs is not None and ours]
    return median(ratios) if ratios else None


def _percentile(values_ns: Ints, percent: float) -> int | None:
    if not len(values_ns):
        return None
    found = percentile(values_ns, percent)
    return None if found == NEVER else found
