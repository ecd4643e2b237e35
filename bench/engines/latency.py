"""Latency at shares of the saturation: TTFT, the time between tokens, and end to end, alongside the simulated reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from batchproof.bench.each_work import measured, summed_up
from batchproof.bench.engines.calibration import Calibrate, Saturation
from batchproof.bench.engines.oracle import Comparison, compared
from batchproof.bench.engines.serving import Serving, opened
from batchproof.bench.measurement import Bench
from batchproof.bench.result import Result
from batchproof.load.generation.runs import TextRun
from batchproof.load.generation.samples import Objective, TextSamples
from batchproof.load.workload import Work
from batchproof.stats.arrays import NEVER, Ints
from batchproof.stats.gates import worst
from batchproof.stats.percentile import fewest, percentile

LOADS, QUICK_LOADS = (0.3, 0.6, 0.9), (0.6, 0.9)
PERCENTS = (50.0, 90.0, 99.0)
ENOUGH = fewest(99) + 1
LEAST_S, MOST_S = (6.0, 2.0), (30.0, 8.0)  # full, quick


@dataclass(frozen=True, eq=False)
class Loaded:
    """An engine under one load, a share of its saturation. oracle: None if there is no comparison. path: of its samples."""

    load: float
    rate: float
    run: TextRun
    objective: Objective
    oracle: Comparison | None
    path: str

    @property
    def within(self) -> float:
        """The share of the requests that meet the objective."""
        return float(np.mean(self.run.samples.within(self.objective)))

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        known = {
            "times": times(self.run.samples),
            "within": self.within,
            "goodput_per_s": self.run.goodput(self.objective),
            "tokens_per_s": self.run.tokens_per_s,
        }
        about: dict[str, Any] = {"load": self.load, "rate": self.rate, "requests": self.run.samples.count}
        about |= {"valid": self.run.valid, "reasons": list(self.run.validity.reasons), "samples": self.path}
        about |= {"host": self.run.host, "asked": self.run.demand.schedule.spec}
        about |= {"outcomes": self.run.samples.whole.outcomes(), "oracle": self.oracle.facts() if self.oracle else None}
        return about | (known if self.run.valid else {"discarded": known})


@dataclass(frozen=True)
class Latency:
    """An engine under each load. target: its name. spoilt: why the saturation, which loads are shares of, is not known."""

    target: str
    objective: Objective
    rows: tuple[Loaded, ...]
    spoilt: tuple[str, ...] = ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """Every reason against the figures."""
        rows = tuple(f"at {row.load:g}: {why}" for row in self.rows for why in row.run.validity.reasons)
        return (*(f"saturation: {why}" for why in self.spoilt), *rows)

    @property
    def valid(self) -> bool:
        """Whether they are a result."""
        return not self.reasons

    @property
    def verdict(self) -> str:
        """That of the comparison with the simulated reference, where it is judged: a busy host slows both down alike."""
        right = [row.oracle for row in self.rows if row.oracle and not row.run.wrong]
        return worst(oracle.verdict(self.target) for oracle in right)

    @property
    def says(self) -> str:
        """The result of the highest load."""
        last = self.rows[-1]
        found = times(last.run.samples)
        told = ", ".join(f"{name} {ns['p50'] / 1e6:.1f} ms" for name, ns in found.items() if ns["p50"] is not None)
        beside = ""
        if last.oracle and "e2e" in last.oracle.ratios:
            beside = f", end to end {last.oracle.ratios['e2e']:.2f} x the simulated reference"
        return f"at {last.load:g} of saturation p50 of {told}; {last.within:.0%} meet the objective{beside}"

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        about = {"valid": self.valid, "reasons": list(self.reasons), "objective": vars(self.objective), "says": self.says}
        return about | {"rows": [row.facts() for row in self.rows]}


def times(samples: TextSamples) -> Mapping[str, Mapping[str, int | None]]:
    """Return percentiles of each time; None if there are too few values, or if one falls on an unanswered request."""
    found = {"ttft": samples.ttft_ns, "itl": samples.gap_ns, "e2e": samples.latency_ns}
    return {name: {f"p{percent:g}": quantile(values, percent) for percent in PERCENTS} for name, values in found.items()}


def quantile(values_ns: Ints, percent: float) -> int | None:
    """Return a percentile; None if there are too few values for a bound, or if it falls on an unanswered request."""
    if len(values_ns) < fewest(percent) or (found := percentile(values_ns, percent)) >= NEVER:
        return None
    return found


def measure(bench: Bench, calibrate: Calibrate) -> Result:
    """Offer each load to each work."""
    return summed_up(measured(bench.works, partial(_measured, bench, calibrate)))


def seconds_of(bench: Bench, rate: float) -> float:
    """Return how long a run must be to have a p99, within bounds."""
    least, most = (bench.seconds(*both) for both in (LEAST_S, MOST_S))
    return min(max(least, ENOUGH / rate), most)


def _measured(bench: Bench, calibrate: Calibrate, work: Work) -> Latency:
    known = calibrate(work)
    with opened(bench, work, known.config) as serving:
        rows = [_loaded(serving, known, load) for load in (QUICK_LOADS if bench.quick else LOADS)]
    return Latency(bench.target.info.name, known.objective, tuple(rows), known.run.validity.reasons)


def _loaded(serving: Serving, known: Saturation, load: float) -> Loaded:
    bench, rate = serving.bench, load * known.run.requests_per_s
    bench.say(f"latency: {load:g} of saturation")
    run = serving.offer(bench.texts.asked(rate, seconds_of(bench, rate), bench.seed, serving.config))
    path = serving.keep(f"{serving.work.name}-latency-{load:g}", run)
    return Loaded(load, rate, run, known.objective, compared(run, serving.config, known.pace), path)
