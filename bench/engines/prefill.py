"""Isolation: how long prompts delay the texts that are being generated.

The same short requests are sent twice, once alone and once alongside long prompts, and the times between two tokens of the
short ones are compared. An engine that computes a long prompt in one iteration makes all others wait for it; one that
computes it in chunks makes each iteration longer. The simulated reference shows the delay that is unavoidable with this
token budget.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from batchproof.bench.each_work import measured, summed_up
from batchproof.bench.engines.calibration import Calibrate
from batchproof.bench.engines.latency import quantile, seconds_of
from batchproof.bench.engines.oracle import gaps_of, predicted
from batchproof.bench.engines.own_times import own_times
from batchproof.bench.engines.serving import Serving, opened
from batchproof.bench.measurement import Bench
from batchproof.bench.result import Result
from batchproof.load.generation.demand import Demand, demand, merged
from batchproof.load.generation.lengths import Lengths
from batchproof.load.generation.runs import TextRun
from batchproof.load.schedule import constant
from batchproof.load.workload import Work
from batchproof.stats.arrays import Ints

LOAD = 0.4  # share of the saturation that the short requests take
LONG, SAID = 0.75, 4  # a long prompt, as a share of the longest text that the engine takes; tokens of its text
EVERY = 25  # iterations with a full budget between two long prompts
SHORT = 0


@dataclass(frozen=True, eq=False)
class Side:
    """The short requests, alone or alongside long prompts. simulated_p99_ns: of the times between their tokens."""

    run: TextRun
    path: str
    simulated_p99_ns: int | None

    @property
    def gap_ns(self) -> Ints:
        """The times between two tokens of short requests: int64 [g]."""
        samples = self.run.samples
        return samples.part(samples.whole.client == SHORT).gap_ns

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        known = {f"p{percent:g}_ns": quantile(self.gap_ns, percent) for percent in (50.0, 90.0, 99.0)}
        about = {"valid": self.run.valid, "reasons": list(self.run.validity.reasons), "samples": self.path}
        about |= {"requests": self.run.samples.count, "simulated_p99_ns": self.simulated_p99_ns, "host": self.run.host}
        return about | (known if self.run.valid else {"discarded": known})


@dataclass(frozen=True)
class Prefill:
    """Short requests, alone and alongside long prompts. tokens: of a long prompt; budget: of an iteration."""

    sides: Mapping[str, Side]
    tokens: int
    budget: int
    spoilt: tuple[str, ...] = ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """Every reason against the figures."""
        told = tuple(f"{name}: {why}" for name, side in self.sides.items() for why in side.run.validity.reasons)
        return (*(f"saturation: {why}" for why in self.spoilt), *told)

    @property
    def valid(self) -> bool:
        """Whether they are a result."""
        return not self.reasons

    @property
    def verdict(self) -> str:
        """An empty string: it has no gate."""
        return ""

    @property
    def ratio(self) -> float | None:
        """The p99 of the time between tokens alongside long prompts, over that alone; None if either is unknown."""
        alone, beside = (quantile(side.gap_ns, 99) for side in self.sides.values())
        return beside / alone if alone and beside else None

    @property
    def simulated_ratio(self) -> float | None:
        """The same, as simulated."""
        alone, beside = (side.simulated_p99_ns for side in self.sides.values())
        return beside / alone if alone and beside else None

    @property
    def says(self) -> str:
        """The delay caused by a long prompt."""
        told = "an unknown value" if self.ratio is None else f"{self.ratio:.2f} x"
        simulated = f"; {self.simulated_ratio:.2f} x in the simulated reference" if self.simulated_ratio else ""
        return f"prompts of {self.tokens} tokens change others' p99 between two tokens to {told}{simulated}"

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        about = {"valid": self.valid, "reasons": list(self.reasons), "says": self.says, "long_tokens": self.tokens}
        about |= {"budget_tokens": self.budget, "sides": {name: side.facts() for name, side in self.sides.items()}}
        return about | ({"ratio": self.ratio, "simulated_ratio": self.simulated_ratio} if self.valid else {})


def measure(bench: Bench, calibrate: Calibrate) -> Result:
    """Measure each work."""
    return summed_up(measured(bench.works, partial(_measured, bench, calibrate)))


def _measured(bench: Bench, calibrate: Calibrate, work: Work) -> Prefill:
    known = calibrate(work)
    with opened(bench, work, known.config) as serving:
        rate = LOAD * known.run.requests_per_s
        seconds = seconds_of(bench, rate)
        short = bench.texts.asked(rate, seconds, bench.seed, serving.config)
        length = int(LONG * serving.config.max_model_len)
        every_s = EVERY * max(serving.full_ns, known.objective.itl_ns // 2) / 1e9
        arrivals = constant(1 / every_s, seconds)
        long = demand(arrivals, Lengths(length), Lengths(SAID), bench.seed, longest=serving.config.max_model_len)
        sides = {"alone": short, "beside long prompts": merged(short, long)}
        found = {name: _side(serving, name, asked) for name, asked in sides.items()}
    return Prefill(found, length, serving.config.max_num_batched_tokens, known.run.validity.reasons)


def _side(serving: Serving, name: str, asked: Demand) -> Side:
    serving.bench.say(f"prefill: short requests {name}")
    run = serving.offer(asked)
    path = serving.keep(f"{serving.work.name}-prefill-{name.partition(' ')[0]}", run)
    simulated = None
    if (own := own_times(run.lines)) is not None:
        simulated = quantile(gaps_of(predicted(run, serving.config, own), asked.client == SHORT), 99)
    return Side(run, path, simulated)
