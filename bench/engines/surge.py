"""Overload and recovery: more requests than the engine can serve, and how long it takes to recover from a surge.

Two questions: how many requests meet the objective when more are offered than can be served? After a surge, how long does it
take until first tokens come as soon as before?
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from batchproof.bench.each_work import measured, summed_up
from batchproof.bench.engines.calibration import Calibrate, Saturation
from batchproof.bench.engines.latency import quantile
from batchproof.bench.engines.serving import Serving, opened
from batchproof.bench.measurement import Bench
from batchproof.bench.measurements.overload import WINDOW, recovery_ns
from batchproof.bench.result import Result
from batchproof.load.generation.runs import TextRun
from batchproof.load.generation.samples import Objective
from batchproof.load.phases import Phase, during, phases, schedule
from batchproof.load.samples import Samples
from batchproof.load.workload import Work
from batchproof.stats.percentile import percentile

LOADS, QUICK_LOADS = (0.5, 1.0, 1.5, 2.0), (0.5, 2.0)
CALM, SURGE = 0.5, 2.0
DRAINS = (SURGE - 1) / (1 - CALM)  # how many seconds it takes to drain one second of surge


@dataclass(frozen=True, eq=False)
class Overloaded:
    """An engine that is offered this share of its saturation, as requests/s."""

    load: float
    rate: float
    run: TextRun
    objective: Objective
    path: str

    @property
    def goodput(self) -> float:
        """Requests per second that meet the objective."""
        return self.run.goodput(self.objective)

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        samples = self.run.samples
        known = {
            "goodput_per_s": self.goodput,
            "tokens_per_s": self.run.tokens_per_s,
            "ttft_p50_ns": quantile(samples.ttft_ns, 50),
            "e2e_p50_ns": quantile(samples.latency_ns, 50),
            "outcomes": samples.whole.outcomes(),
        }
        about: dict[str, Any] = {"load": self.load, "rate": self.rate, "requests": samples.count, "valid": self.run.valid}
        about |= {"reasons": list(self.run.validity.reasons), "samples": self.path, "host": self.run.host}
        return about | (known if self.run.valid else {"discarded": known})


@dataclass(frozen=True, eq=False)
class Recovery:
    """A surge between two calm stretches. before_ns, during_ns: the median TTFT.

    recovery_ns: how long the recovery took; None: it did not recover while load was offered. expected_ns: when the backlog
    of an unlimited queue is served. from_ns, until_ns: the surge.
    """

    run: TextRun
    before_ns: int
    during_ns: int
    recovery_ns: int | None
    expected_ns: int
    path: str
    from_ns: int = 0
    until_ns: int = 0

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        names = ("before_ns", "during_ns", "recovery_ns", "expected_ns")
        known = {name: getattr(self, name) for name in names}
        about = {"valid": self.run.valid, "reasons": list(self.run.validity.reasons), "samples": self.path}
        about |= {"from_ns": self.from_ns, "until_ns": self.until_ns}
        return about | (known if self.run.valid else {"discarded": known})


@dataclass(frozen=True)
class Surge:
    """An engine under overload. capacity: requests/s at saturation; spoilt: why it is not known."""

    capacity: float
    objective: Objective
    rows: tuple[Overloaded, ...]
    recovery: Recovery
    spoilt: tuple[str, ...] = ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """Every reason against the figures."""
        rows = tuple(f"at {row.load:g}: {why}" for row in self.rows for why in row.run.validity.reasons)
        surge = tuple(f"surge: {why}" for why in self.recovery.run.validity.reasons)
        return (*(f"saturation: {why}" for why in self.spoilt), *rows, *surge)

    @property
    def valid(self) -> bool:
        """Whether they are a result."""
        return not self.reasons

    @property
    def verdict(self) -> str:
        """An empty string: it has no gate."""
        return ""

    @property
    def says(self) -> str:
        """The result of the highest load, and the recovery time."""
        last = self.rows[-1]
        back = "not seen" if self.recovery.recovery_ns is None else f"after {self.recovery.recovery_ns / 1e9:.1f} s"
        share = last.goodput / self.capacity
        return f"at {last.load:g} x saturation {share:.0%} of it meets the objective; back to normal after a surge: {back}"

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        about = {"valid": self.valid, "reasons": list(self.reasons), "says": self.says, "capacity_per_s": self.capacity}
        about["objective"] = vars(self.objective)
        rows: Mapping[str, Any] = {"rows": [row.facts() for row in self.rows], "recovery": self.recovery.facts()}
        return {**about, **rows}


def measure(bench: Bench, calibrate: Calibrate) -> Result:
    """Overload each work."""
    return summed_up(measured(bench.works, partial(_measured, bench, calibrate)))


def _measured(bench: Bench, calibrate: Calibrate, work: Work) -> Surge:
    known = calibrate(work)
    capacity = known.run.requests_per_s
    with opened(bench, work, known.config) as serving:
        rows = [_overloaded(serving, known, load) for load in (QUICK_LOADS if bench.quick else LOADS)]
        recovery = _recovery(serving, capacity)
    return Surge(capacity, known.objective, tuple(rows), recovery, known.run.validity.reasons)


def _overloaded(serving: Serving, known: Saturation, load: float) -> Overloaded:
    bench, rate = serving.bench, load * known.run.requests_per_s
    bench.say(f"surge: {load:g} of saturation")
    run = serving.offer(bench.texts.asked(rate, bench.seconds(6.0, 2.0), bench.seed, serving.config))
    path = serving.keep(f"{serving.work.name}-surge-{load:g}", run)
    return Overloaded(load, rate, run, known.objective, path)


def _recovery(serving: Serving, capacity: float) -> Recovery:
    bench = serving.bench
    bench.say(f"surge: {SURGE:g} times the saturation, then {CALM:g} of it")
    seconds = max(bench.seconds(3.0, 1.0), 2 * WINDOW / (CALM * capacity) / (DRAINS + 1))
    parts = phases(
        ("before", seconds, CALM * capacity),
        ("surge", seconds, SURGE * capacity),
        ("after", seconds * (DRAINS + 2), CALM * capacity),
    )
    run = serving.offer(bench.texts.due(schedule(parts, bench.seed), bench.seed, serving.config))
    path = serving.keep(f"{serving.work.name}-surge-recovery", run)
    first = to_first_token(run)
    before, surge = (_median(first, part) for part in parts[:2])
    back = recovery_ns(first, parts[0], parts[1].end_ns)
    return Recovery(run, before, surge, back, round(parts[1].seconds * DRAINS * 1e9), path,
                    parts[0].end_ns, parts[1].end_ns)  # fmt: skip


def to_first_token(run: TextRun) -> Samples:
    """Return the requests of a run as if each had ended with its first token."""
    return replace(run.samples.whole, done_ns=run.samples.first_ns)


def _median(samples: Samples, phase: Phase) -> int:
    """Return the median latency of the requests that were due in a phase; 0 without any."""
    found = during(samples, phase).latency_ns
    return int(percentile(found, 50)) if np.size(found) else 0
