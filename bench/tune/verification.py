"""Does a target meet the objective at a rate, as the simulator says? Measured, slice by slice, until it is decided."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from batchproof.bench.measurement import Bench
from batchproof.bench.tune.search import Forecast, Goal, Simulator, Traffic, name_of
from batchproof.load.phases import quantile
from batchproof.load.runs import open_loop
from batchproof.load.workload import Served, Work
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.stats import gates
from batchproof.stats.gates import INCONCLUSIVE, Conclusion

INVALID = "INVALID"
# As shares of the predicted rate. At 1.0 just 1 % is over the budget, which cannot be shown in any time. The simulator says
# from which share on it can be shown, and that is where the target is asked.
SHARES = (0.98, 0.95, 0.9, 0.85, 0.8, 0.7, 0.6)
STEPS = (1, 1, 2)  # slices, in planned lengths: what is inconclusive is measured on, to four times the plan


@dataclass(frozen=True)
class Objective:
    """The work, the traffic and the goal to tune for. rate: requests/s that must be held; 0: find the highest.

    seconds: the longest that one rate is verified, in all. simulated_s: of traffic for each prediction. candidates: the most
    configurations that are measured.
    """

    goal: Goal
    traffic: Traffic
    work: Work
    rate: float = 0.0
    max_batch: tuple[int, ...] = (4, 8, 16, 32, 64, 128)
    delays_ns: tuple[int, ...] = (0, 1_000_000, 2_000_000, 5_000_000, 10_000_000)
    instances: int = 1
    seconds: float = 60.0
    simulated_s: float = 20.0
    candidates: int = 3


@dataclass(frozen=True)
class Verified:
    """What the target did with one configuration at one rate.

    verdict: PASS, FAIL, INCONCLUSIVE, or INVALID (see reasons). shown: the evidence. p99_ns: the goal's percentile as
    measured; predicted_ns: as simulated on the very same arrivals. looks: slices that it took, `requests` in all.
    """

    config: BatcherConfig
    rate: float
    verdict: str
    shown: Conclusion | None
    p99_ns: int | None
    predicted_ns: int | None
    requests: int
    looks: int
    reasons: tuple[str, ...] = ()

    @property
    def over(self) -> int | None:
        """How many requests were over the latency budget."""
        return round(self.shown.estimate * self.shown.n) if self.shown and self.shown.estimate is not None else None

    @property
    def ratio(self) -> float | None:
        """Measured by predicted."""
        return self.p99_ns / self.predicted_ns if self.p99_ns and self.predicted_ns else None

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        return {**asdict(self), "config": self.config.facts(), "ratio": self.ratio}


def planned(objective: Objective, simulator: Simulator, forecast: Forecast) -> list[tuple[float, float]]:
    """Return the rates at which the simulator expects that the goal can be shown, the highest first, with seconds for each.

    If there is none, return the lowest rate for as long as is allowed: the target may know better.
    """
    rates = [objective.rate] if objective.rate else [forecast.rate * share for share in SHARES]
    confidence = each_look(objective.goal)
    plans = [(rate, simulator.plan(forecast.config, rate, objective.seconds, confidence)) for rate in rates]
    return [(rate, seconds) for rate, seconds in plans if seconds] or [(rates[-1], objective.seconds)]


def each_look(goal: Goal) -> float:
    """Return the confidence of each look: several looks would make a wrong verdict likelier."""
    return gates.each_of(goal.confidence, len(STEPS))


def verify(
    bench: Bench, served: Served, simulator: Simulator, config: BatcherConfig, rate: float, seconds: float, longest_s: float
) -> Verified:
    """Offer the traffic at a rate for `seconds`; while the goal's gate is INCONCLUSIVE, for more, up to longest_s in all.

    A slice that is INVALID is measured once more; if it is INVALID again, so is the whole.
    """
    goal, traffic = simulator.goal, simulator.traffic
    measured: list[Any] = []
    predicted: list[Any] = []
    shown: Conclusion | None = None
    spoilt = False
    seed, place, left_s = bench.seed + 1, 0, max(longest_s, seconds)
    while place < len(STEPS) and left_s > 0 and (shown is None or shown.verdict == INCONCLUSIVE):
        length_s = min(STEPS[place] * seconds, left_s)
        bench.say(f"verifying {name_of(config)} at {rate:.0f}/s for {length_s:.1f} s")
        arrivals = traffic.at(rate, length_s, seed)
        run = open_loop(served.submit, served.clock, arrivals, wait_ns=bench.wait_ns, slo_ns=goal.budget_ns)
        bench.keep(f"tune-{name_of(config)}-{rate:.0f}-{seed - bench.seed}", run)
        seed += 1
        if not run.valid:
            if spoilt:
                return Verified(config, rate, INVALID, None, None, None, 0, place, run.validity.reasons)
            spoilt = True
            continue
        place, left_s = place + 1, left_s - length_s
        measured.append(run.samples.latency_ns)
        predicted.append(simulator.latency_ns(config, arrivals.due_ns)[0])
        shown = goal.judge(np.concatenate(measured), each_look(goal))
    found, expected = np.concatenate(measured), np.concatenate(predicted)
    p99_ns, predicted_ns = quantile(found, goal.percent), quantile(expected, goal.percent)
    verdict = shown.verdict if shown else INCONCLUSIVE
    return Verified(config, rate, verdict, shown, p99_ns, predicted_ns, found.size, place)
