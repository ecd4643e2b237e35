"""Which configuration has the most throughput with p99 within a latency budget: predicted on the traffic's own arrivals.

The latency budget is the SLO minus what the network and other queues may take. For each configuration the simulator finds
the highest rate at which at most 1 % of the requests exceed it. All rates play the same random numbers, so that the search
follows the rate and not the dice. It ends at 1 % of the limit, because the verification cannot tell closer rates apart. No
target takes part in this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from batchproof.bench.oracle.curve import Curve
from batchproof.load.schedule import Schedule, ScheduleError, parse, trace
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.reference_batcher.simulator import simulate, simulate_closed
from batchproof.stats import gates
from batchproof.stats.gates import PASS, Conclusion
from batchproof.stats.percentile import percentile

Ints = npt.NDArray[np.int64]
PATTERNS = {"bursty": "on_off"}  # words for people
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
RESOLUTION = 0.01
ALIKE = 0.02  # of configurations whose rates differ by less, the one that answers a lone request soonest is better
EQUAL = 0.005  # saturated rates that differ by less are equal, because a closed loop needs some batches to settle
ROUNDS = 200  # closed loop: batches for each instance
SHARES = (0.125, 0.25, 0.5, 1.0)  # of the longest verification: how long it is planned to be
LEAST = 1000  # a verification has at least this many requests
PLANNING = 1_000_003  # plans, searches and measurements have different seeds: nothing is judged on the data that chose it


@dataclass(frozen=True)
class Goal:
    """`percent` of the requests within the latency budget, from the scheduled time; to be shown with `confidence`."""

    budget_ns: int
    percent: float = 99.0
    confidence: float = 0.99

    def judge(self, latency_ns: Ints, confidence: float) -> Conclusion:
        """Judge whether these latencies keep the goal; int64 [n] in the order of the schedule."""
        return gates.latency_within(latency_ns, self.budget_ns, self.percent, confidence)


@dataclass(frozen=True)
class Traffic:
    """A pattern of arrivals that can be played at any rate.

    pattern: `poisson`, `bursty` (on and off, see `schedule.on_off`), any kind of `schedule.parse` with its own parameters
    but for rate, seconds and seed (`on_off:peak=5,burst=0.05`), or the path of a trace, which is played faster or slower.
    """

    pattern: str = "poisson"

    def at(self, rate: float, seconds: float, seed: int) -> Schedule:
        """Return arrivals at `rate` requests/s on average; of a trace, all of it. ScheduleError: no such pattern."""
        return _arrivals(self.pattern, rate, seconds, seed)

    @property
    def own_rate(self) -> float | None:
        """The rate of a trace as it was recorded; None of a pattern."""
        kind = self.pattern.partition(":")[0]
        recorded = kind == "trace" or Path(self.pattern).is_file()
        return _recorded(self.pattern).rate if recorded else None


@lru_cache(maxsize=64)  # the scan plays the same rates for every configuration
def _arrivals(pattern: str, rate: float, seconds: float, seed: int) -> Schedule:
    kind, _, more = pattern.partition(":")
    if kind == "trace" or Path(pattern).is_file():
        recorded = _recorded(pattern)
        due = (recorded.due_ns * (recorded.rate / rate)).astype(np.int64)
        return Schedule(due, f"{recorded.spec} at {rate:g}/s", round(recorded.end_ns * recorded.rate / rate))
    for taken in ("rate=", "seconds=", "seed="):
        if any(part.startswith(taken) for part in more.split(",")):
            raise ScheduleError(f"--traffic {pattern}: {taken[:-1]} is not part of the pattern; it has an option of its own")
    spec = f"{PATTERNS.get(kind, kind)}:rate={rate!r},seconds={seconds!r}"
    if kind != "constant":
        spec += f",seed={seed}"
    return parse(f"{spec},{more}" if more else spec)


@lru_cache(maxsize=4)
def _recorded(pattern: str) -> Schedule:
    return parse(pattern) if pattern.startswith("trace:") else trace(pattern)


@dataclass(frozen=True)
class Machine:
    """What the simulator knows of a target: tau(b) as its instances are busy, and what an answer takes beyond that.

    curve: measured, with what a batch costs at saturation beyond the model. overhead_ns: the rest of what a request takes,
    which adds to the latency and keeps no instance busy.
    """

    curve: Curve
    overhead_ns: int = 0

    @classmethod
    def calibrated(cls, curve: Curve, saturated: Sequence[tuple[int, float]], lone_ns: int, instances: int = 1) -> Machine:
        """Correct a curve by what was measured.

        saturated: (max batch, answers/s in a saturating closed loop); M * instances / rate is what a full batch really
        takes. The excess is taken as linear in the rows, from none to the first and between two of them, and as constant
        beyond. lone_ns: what a single request takes beyond tau(1) from its sending to the answer; as much of it as is excess
        keeps the instance busy.
        """
        excess = [max(0.0, batch * instances / rate * 1e9 - curve.at(batch)) for batch, rate in saturated]
        if not excess:
            return cls(curve, lone_ns)
        batches, excess = [0, *(batch for batch, _ in saturated)], [0.0, *excess]
        sizes = sorted({*curve.sizes, *batches[1:]})
        tau = tuple(round(curve.at(size) + float(np.interp(size, batches, excess))) for size in sizes)
        return cls(Curve(tuple(sizes), tau), max(0, lone_ns - round(float(np.interp(1, batches, excess)))))


@dataclass(frozen=True)
class Forecast:
    """A configuration, as predicted. Rates in requests/s, times in ns.

    qps: saturated, whatever the latency (closed loop, 2 x max batch x instances clients). qps_p99_ns: the latency there.
    floor_ns: of a request that comes alone. rate: the highest that keeps the goal; 0: none. p99_ns, batch: percentile and
    mean batch at that rate (of rate 0: at a hundredth of the limit).
    """

    config: BatcherConfig
    qps: float
    qps_p99_ns: int
    floor_ns: int
    rate: float
    p99_ns: int
    batch: float

    @property
    def name(self) -> str:
        """Short, for tables."""
        return name_of(self.config)


@dataclass(frozen=True)
class Simulator:
    """Plays traffic to a configuration: `seconds` of it from `seed`."""

    machine: Machine
    traffic: Traffic
    goal: Goal
    seconds: float
    seed: int

    def latency_ns(self, config: BatcherConfig, due_ns: Ints) -> tuple[Ints, float]:
        """Return the latency of each arrival, int64 [n], and the mean batch."""
        played = simulate(config, due_ns, self.machine.curve.table(config.max_batch_size))
        return played.latency_ns + self.machine.overhead_ns, played.mean_batch

    def at(self, config: BatcherConfig, rate: float) -> tuple[int, float]:
        """Return the goal's percentile in ns at a rate, and the mean batch."""
        latency_ns, batch = self.latency_ns(config, self.traffic.at(rate, self.seconds, self.seed).due_ns)
        return percentile(latency_ns, self.goal.percent), batch

    def plan(self, config: BatcherConfig, rate: float, longest_s: float, confidence: float) -> float | None:
        """Return how many seconds of load it takes to show the goal at a rate; None: not in longest_s, or not at all."""
        arrivals = self.traffic.at(rate, max(longest_s, LEAST / rate), self.seed + PLANNING)
        latency_ns, _ = self.latency_ns(config, arrivals.due_ns)
        for share in SHARES:
            seconds = max(longest_s * share, LEAST / rate)
            seen = latency_ns[: int(np.searchsorted(arrivals.due_ns, seconds * 1e9))]
            if seen.size and self.goal.judge(seen, confidence).verdict == PASS:
                return seconds
        return None

    def forecast(self, config: BatcherConfig, most: float) -> Forecast:
        """Predict one configuration. most: the highest rate of the scan, the same for all of a grid."""
        tau, instances = self.machine.curve.table(config.max_batch_size), config.instances
        clients = 2 * config.max_batch_size * instances
        closed = simulate_closed(config, clients, clients + ROUNDS * config.max_batch_size * instances, tau)
        settled = closed.latency_ns[clients:] + self.machine.overhead_ns
        floor_ns = tau[1] + self.machine.overhead_ns + (config.max_queue_delay_ns if config.max_batch_size > 1 else 0)
        rate = 0.0
        if floor_ns <= self.goal.budget_ns:
            rate = highest(lambda asked: self.at(config, asked)[0] <= self.goal.budget_ns, most)
        p99_ns, batch = self.at(config, rate or STEPS[0] * most)
        return Forecast(config, closed.throughput, percentile(settled, 99), floor_ns, rate, p99_ns, batch)

    def grid(self, configs: Iterable[BatcherConfig], told: Callable[[str], None] = lambda _: None) -> list[Forecast]:
        """Predict every configuration."""
        asked = list(configs)
        most = max(self.machine.curve.max_throughput(config.max_batch_size, config.instances) for config in asked)
        found = []
        for config in asked:
            told(f"predicting {name_of(config)}")
            found.append(self.forecast(config, most))
        return found


def grid_of(max_batch: Sequence[int], delays_ns: Sequence[int], instances: int = 1) -> list[BatcherConfig]:
    """Return all configurations; a batch of one never waits for company, so it has no delay."""
    base = BatcherConfig(instances=instances)
    return [
        replace(base, max_batch_size=size, max_queue_delay_ns=delay)
        for size in sorted(set(max_batch))
        for delay in (sorted(set(delays_ns)) if size > 1 else (0,))
    ]


def highest(keeps: Callable[[float], bool], most: float) -> float:
    """Return the highest rate up to `most` such that it and every lower step of the scan keep the goal; 0.0 if none does.

    A scan from below, then bisection: with a delay the latency can fall as the rate grows (batches fill sooner), and a
    bisection from the top could end on such an island, which traffic leaves whenever it ebbs.
    """
    low, high = 0.0, most
    for step in STEPS:
        if not keeps(step * most):
            high = step * most
            break
        low = step * most
    while low and high - low > RESOLUTION * high:
        middle = (low + high) / 2
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return low


def ranked(forecasts: Sequence[Forecast]) -> list[Forecast]:
    """Return those that keep the goal at some rate, the best first: the highest rate; of nearly equal ones the lowest floor.

    Nearly equal to the best of those that are left: within 2 %, which the verification cannot tell apart either. Then
    counts what a lone request takes, as traffic ebbs too, and then the smaller batch, which needs less memory.
    """
    left = sorted((forecast for forecast in forecasts if forecast.rate), key=lambda forecast: -forecast.rate)
    found: list[Forecast] = []
    while left:
        alike = [forecast for forecast in left if forecast.rate >= (1 - ALIKE) * left[0].rate]
        best = min(alike, key=lambda one: (one.floor_ns, one.config.max_batch_size))
        found.append(best)
        left.remove(best)
    return found


def highest_qps(forecasts: Sequence[Forecast]) -> Forecast:
    """Return what a tuner would choose that looks at throughput alone; of equal ones the lowest p99 there."""
    most = max(forecast.qps for forecast in forecasts)
    alike = [forecast for forecast in forecasts if forecast.qps >= (1 - EQUAL) * most]
    return min(alike, key=lambda forecast: (forecast.qps_p99_ns, forecast.floor_ns))


def nearest(forecasts: Sequence[Forecast]) -> Forecast:
    """Return the configuration that comes nearest to the latency budget where none keeps the goal."""
    return min(forecasts, key=lambda forecast: (forecast.p99_ns, forecast.floor_ns))


def blame(forecasts: Sequence[Forecast], machine: Machine, goal: Goal, asked: float = 0.0) -> str:
    """Say why no configuration keeps the goal (at the rate asked for, if one was)."""
    budget_ns, lone_ns = goal.budget_ns, machine.curve.at(1)
    if lone_ns + machine.overhead_ns > budget_ns:
        alone = f"one request alone takes {ms(lone_ns)} in the model and {ms(machine.overhead_ns)} outside it"
        helps = "no batching helps, only a faster model, faster hardware or a larger SLO"
        return f"{alone}; the latency budget is {ms(budget_ns)}: {helps}"
    if all(forecast.floor_ns > budget_ns for forecast in forecasts):
        return f"every delay of the grid takes a lone request over the budget of {ms(budget_ns)}: allow a smaller delay"
    limit = max(forecast.qps for forecast in forecasts)
    if asked > limit:
        return f"{asked:.0f}/s are more than any of these configurations can serve ({limit:.0f}/s): it needs more instances"
    near = nearest(forecasts)
    part = f"queueing is at fault: a request alone keeps the latency budget, but with {near.name} p99 is {ms(near.p99_ns)}"
    return part + ": bursts wait for batches before them; more instances, or a larger SLO"


def name_of(config: BatcherConfig) -> str:
    """Return a configuration in few words."""
    words = f"max_batch {config.max_batch_size}, delay {config.max_queue_delay_ns / 1e6:g} ms"
    return words + (f", {config.instances} instances" if config.instances > 1 else "")


def ms(ns: float) -> str:
    """Return milliseconds with two digits."""
    return f"{ns / 1e6:.2f} ms"
