"""`batchproof tune`: measures tau(b), predicts the grid, verifies the promising points on the target, says why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from batchproof.bench.calibration import Calibrate, Calibration, saturation
from batchproof.bench.measurement import Bench
from batchproof.bench.oracle.prediction import margin_of
from batchproof.bench.result import Result
from batchproof.bench.tune import explanation
from batchproof.bench.tune.search import Forecast, Machine, Simulator, grid_of, highest_qps, name_of, ranked
from batchproof.bench.tune.verification import Objective, Verified, planned, verify
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.stats.gates import FAIL, INCONCLUSIVE, PASS

TRIES = 3  # rates at which one configuration is measured


@dataclass(frozen=True)
class Tuning:
    """What tuning found.

    machine: the target, as the simulator knows it. forecasts: the whole grid; qps: the one with the highest throughput.
    tried: what was verified, in this order. rival: `qps` at the rate of the configuration that was chosen; None if it is the
    same one, or nothing was chosen.
    """

    objective: Objective
    machine: Machine
    forecasts: tuple[Forecast, ...]
    qps: Forecast
    tried: tuple[Verified, ...]
    rival: Verified | None

    @property
    def chosen(self) -> Verified | None:
        """The configuration that was shown to hold the highest rate; None if nothing was shown to hold."""
        return max((one for one in self.tried if one.verdict == PASS), key=lambda one: one.rate, default=None)

    @property
    def verdict(self) -> str:
        """PASS: something was chosen. FAIL: no configuration keeps the goal. INCONCLUSIVE: that could not be decided."""
        if self.chosen:
            return PASS
        return INCONCLUSIVE if any(one.verdict != FAIL for one in self.tried) else FAIL

    @property
    def reasons(self) -> tuple[str, ...]:
        """What spoilt runs."""
        return tuple(f"{name_of(one.config)} at {one.rate:.0f}/s: {why}" for one in self.tried for why in one.reasons)

    @property
    def says(self) -> list[str]:
        """What was chosen and why, or why nothing was; a line each."""
        if best := self.chosen:
            return explanation.chosen(best, self.rival, self.qps, self.forecasts, self.machine, self.objective)
        return explanation.nothing_chosen(self.tried, self.forecasts, self.machine, self.objective)

    @property
    def pbtxt(self) -> str | None:
        """A config.pbtxt with the reasons as comments; None if nothing was chosen."""
        if not self.chosen:
            return None
        advice = "Copy max_batch_size, instance_group and dynamic_batching into the configuration of your model."
        config = replace(self.chosen.config, name="model")
        return "".join(f"# {line}\n" for line in (*self.says, advice)) + config.to_pbtxt()

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        curve, rival = self.machine.curve, self.rival and self.rival.facts()
        return {
            "says": self.says,
            "pbtxt": self.pbtxt,
            "goal": asdict(self.objective.goal),
            "traffic": self.objective.traffic.pattern,
            "work": self.objective.work.name,
            "machine": {"sizes": curve.sizes, "tau_ns": curve.tau_ns, "overhead_ns": self.machine.overhead_ns},
            "points": [{**asdict(one), "config": one.config.facts()} for one in self.forecasts],
            "verified": [one.facts() for one in self.tried],
            "chosen": self.chosen and self.chosen.facts(),
            "highest_qps": {"config": self.qps.config.facts(), "qps": self.qps.qps, "at_chosen_rate": rival},
            "invalid_runs": list(self.reasons),
        }


def measure(bench: Bench, calibrate: Calibrate, objective: Objective) -> Result:
    """Tune, as a measurement of a bench."""
    found = tune(bench, calibrate, objective)
    undecided = found.verdict == INCONCLUSIVE
    return Result(
        valid=not undecided,
        headline=found.says[0],
        reasons=found.reasons if undecided else (),
        verdict=found.verdict,
        found=found,
    )


def tune(bench: Bench, calibrate: Calibrate, objective: Objective) -> Tuning:
    """Find the configuration with the most throughput that meets the objective on the target."""
    machine = machine_of(bench, objective, calibrate(objective.work))
    simulator = Simulator(machine, objective.traffic, objective.goal, objective.simulated_s, bench.seed)
    asked = grid_of(objective.max_batch, objective.delays_ns, objective.instances)
    forecasts = simulator.grid(list(dict.fromkeys(map(bench.fitted, asked))), bench.say)
    hopeful = [one for one in ranked(forecasts) if one.rate >= objective.rate]
    tried = _candidates(bench, objective, simulator, hopeful)
    found = Tuning(objective, machine, tuple(forecasts), highest_qps(forecasts), tuple(tried), None)
    return replace(found, rival=_rival(bench, simulator, found))


def machine_of(bench: Bench, objective: Objective, calibration: Calibration) -> Machine:
    """In simulated time the curve is the whole truth; elsewhere saturation says what a batch costs besides the model."""
    if bench.target.simulated:
        return Machine(calibration.curve)
    saturated = []
    for size in sorted({min(objective.max_batch), max(objective.max_batch)}):
        config = bench.fitted(BatcherConfig(max_batch_size=size, instances=objective.instances))
        bench.say(f"saturating {name_of(config)}")
        with bench.serve(objective.work, config) as served:
            saturated.append((config.max_batch_size, saturation(bench, served, config).throughput))
        bench.check_alive()
    known = [(size, rate) for size, rate in saturated if rate > 0]
    return Machine.calibrated(calibration.curve, known, calibration.overhead_ns, objective.instances)


def _candidates(bench: Bench, objective: Objective, simulator: Simulator, hopeful: Sequence[Forecast]) -> list[Verified]:
    """Verify the promising points, the best first, until none that is left promises more than what was found.

    If a configuration with a queue delay fails because it is slower than simulated, no other configuration with a delay is
    tried; likewise without a delay. The target does not do it as the simulator thinks.
    """
    tried: list[Verified] = []
    worse: set[bool] = set()  # with a delay, without one
    held, left = 0.0, objective.candidates
    for forecast in hopeful:
        delayed = forecast.config.max_queue_delay_ns > 0
        if delayed in worse:
            continue
        plans = [plan for plan in planned(objective, simulator, forecast) if plan[0] > held][:TRIES]
        if not plans:
            continue
        ended: list[Verified] = []
        with bench.serve(objective.work, forecast.config) as served:
            for rate, seconds in plans:
                ended.append(verify(bench, served, simulator, forecast.config, rate, seconds, objective.seconds))
                if ended[-1].verdict == PASS:
                    held = rate
                    break
        tried += ended
        left -= 1
        if all(one.verdict == FAIL for one in ended) and slower_than_simulated(ended, bench.target.info.name):
            worse.add(delayed)
        if not left or (held and objective.rate):
            break
    return tried


def slower_than_simulated(ended: Sequence[Verified], target: str) -> bool:
    """Say whether a target was slower each time by more than its margin."""
    return all(one.ratio is None or one.ratio > 1 + margin_of(target) for one in ended)


def _rival(bench: Bench, simulator: Simulator, found: Tuning) -> Verified | None:
    """Measure the one with the highest QPS at the chosen rate on the same arrivals; None if it is the one chosen."""
    best, config, seconds = found.chosen, found.qps.config, found.objective.seconds
    if best is None or config == best.config:
        return None
    with bench.serve(found.objective.work, config) as served:
        return verify(bench, served, simulator, config, best.rate, seconds / 4, seconds)
