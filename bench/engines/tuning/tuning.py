"""`batchproof tune` for an engine: measures its pace, predicts the grid, and verifies the promising points on the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from batchproof.bench.engines.calibration import Calibrate, Pace
from batchproof.bench.engines.serving import Serving, config_of, opened
from batchproof.bench.engines.tuning.search import PERCENT, Forecast, Model, forecasts, name_of
from batchproof.bench.measurement import Bench
from batchproof.bench.result import Result
from batchproof.load.generation.demand import Demand
from batchproof.load.generation.samples import Objective
from batchproof.load.workload import Skipped
from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.stats import gates
from batchproof.stats.arrays import NEVER
from batchproof.stats.gates import FAIL, INCONCLUSIVE, PASS
from batchproof.stats.percentile import fewest

SHARES = (0.95, 0.85, 0.7)  # shares of the predicted rate: at 1.0 exactly 1 % is lost, which no run can show
ENOUGH = 1.5 * fewest(PERCENT)  # enough requests to show that 99 % meet the objective even if a few do not


@dataclass(frozen=True)
class Aims:
    """What to try. seconds: the longest verification of one rate. candidates: how many are verified at most."""

    seqs: tuple[int, ...] = (4, 8, 16, 32)
    budgets: tuple[int, ...] = (64, 128, 256, 512)
    seconds: float = 60.0
    candidates: int = 3

    def grid(self, claims: Mapping[str, Any]) -> list[EngineConfig]:
        """Return the configurations that an engine with these claims supports, without duplicates."""
        pairs = [(seqs, budget) for seqs in self.seqs for budget in self.budgets if budget >= seqs]
        return list(dict.fromkeys(config_of(claims, seqs, budget) for seqs, budget in pairs))


@dataclass(frozen=True)
class Verified:
    """One configuration at one rate, measured. kept: the share that meets the objective; predicted: as simulated."""

    config: EngineConfig
    rate: float
    verdict: str
    kept: float
    predicted: float
    requests: int
    reasons: tuple[str, ...] = ()

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        return {**vars(self), "config": self.config.facts(), "reasons": list(self.reasons)}


@dataclass(frozen=True)
class EngineTuning:
    """The result of tuning an engine. forecasts: the grid, best first; tried: what was verified, in order."""

    work: str
    objective: Objective
    pace: Pace
    forecasts: tuple[Forecast, ...]
    tried: tuple[Verified, ...]

    @property
    def chosen(self) -> Verified | None:
        """The configuration that was shown to sustain the highest rate; None if nothing was shown."""
        return max((one for one in self.tried if one.verdict == PASS), key=lambda one: one.rate, default=None)

    @property
    def verdict(self) -> str:
        """PASS: a configuration was chosen. FAIL: none meets the objective. INCONCLUSIVE: this could not be decided."""
        if self.chosen:
            return PASS
        return INCONCLUSIVE if any(one.verdict != FAIL for one in self.tried) else FAIL

    @property
    def says(self) -> list[str]:
        """What was chosen and why, or why nothing was, in lines."""
        if best := self.chosen:
            return [_chosen(best), *_why(self, best)]
        if not self.tried:
            nearest = self.forecasts[0]
            lost = f"; {nearest.name} loses the {nearest.fails}" if nearest.fails else ""
            return [f"no configuration is predicted to meet the objective at any rate: {self.objective}{lost}"]
        told = ", ".join(f"{one.verdict} at {one.rate:.1f}/s" for one in self.tried)
        return [f"no configuration was shown to meet the objective ({self.objective}): {told}"]

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        points = [{"config": one.config.facts(), "rate": one.rate, "fails": one.fails} for one in self.forecasts]
        about = {"says": self.says, "objective": vars(self.objective), "pace": vars(self.pace), "work": self.work}
        chosen = self.chosen.facts() if self.chosen else None
        return {**about, "points": points, "verified": [one.facts() for one in self.tried], "chosen": chosen}


def measure(bench: Bench, calibrate: Calibrate, aims: Aims) -> Result:
    """Tune, as a measurement of a bench; Skipped for an engine whose iterations are not visible."""
    work, name = bench.works[0], bench.target.info.name
    known = calibrate(work)
    if known.pace is None:
        raise Skipped(f"the iterations of {name} are not visible, so nothing can be predicted")
    model = Model(bench.texts, known.pace, known.objective, bench.seed)
    ranked = forecasts(model, aims.grid(bench.target.info.claims), bench.say)
    tried: list[Verified] = []
    held = 0.0
    for forecast in [one for one in ranked if one.rate][: aims.candidates]:
        plans = [plan for plan in _plans(bench, model, forecast, aims.seconds) if plan.schedule.rate > held]
        if not plans:
            continue
        with opened(bench, work, forecast.config) as serving:
            for plan in plans:
                tried.append(_verified(serving, model, plan))
                if tried[-1].verdict == PASS:
                    held = tried[-1].rate
                    break
    found = EngineTuning(work.name, known.objective, known.pace, tuple(ranked), tuple(tried))
    undecided = found.verdict == INCONCLUSIVE
    spoilt = tuple(f"{one.rate:.1f}/s: {why}" for one in tried for why in one.reasons)
    reasons = (spoilt or (found.says[0],)) if undecided else ()
    return Result(valid=not undecided, headline=found.says[0], reasons=reasons, verdict=found.verdict, found=found)


def _plans(bench: Bench, model: Model, forecast: Forecast, longest_s: float) -> list[Demand]:
    """Return the loads that verify a configuration, highest rate first: arrivals with which the simulator meets the goal.

    They differ from the arrivals of the forecast. If the simulator meets the goal with none, the lowest rate is tried
    anyway.
    """
    rates = [forecast.rate * share for share in SHARES]
    plans = [bench.texts.asked(rate, min(ENOUGH / rate, longest_s), bench.seed + 1, forecast.config) for rate in rates]
    return [plan for plan in plans if model.share(forecast.config, plan) * 100 >= PERCENT] or plans[-1:]


def _verified(serving: Serving, model: Model, plan: Demand) -> Verified:
    bench, config, rate = serving.bench, serving.config, plan.schedule.rate
    bench.say(f"verifying {name_of(config)} at {rate:.1f}/s")
    run = serving.offer(plan)
    serving.keep(f"tune-{config.max_num_seqs}-{config.max_num_batched_tokens}-{rate:.0f}", run)
    kept = run.samples.within(model.objective)
    shown = gates.latency_within(np.where(kept, 0, NEVER), 0, PERCENT)
    verdict = shown.verdict if run.valid else INCONCLUSIVE
    predicted = model.share(config, plan)
    return Verified(config, rate, verdict, float(kept.mean()), predicted, len(kept), run.validity.reasons)


def _chosen(best: Verified) -> str:
    config = best.config
    limits = f"max_num_seqs={config.max_num_seqs}, max_num_batched_tokens={config.max_num_batched_tokens}"
    return f"{limits} meets the objective at {best.rate:.1f} requests/s: {best.kept:.2%} of {best.requests} requests"


def _why(found: EngineTuning, best: Verified) -> list[str]:
    """Return how the predictions for the choice and for others compare."""
    of = {(one.config.max_num_seqs, one.config.max_num_batched_tokens): one for one in found.forecasts}
    mine = of[best.config.max_num_seqs, best.config.max_num_batched_tokens]
    worst = found.forecasts[-1]
    lines = [f"The objective: {found.objective}."]
    lines.append(f"Predicted: up to {mine.rate:.1f} requests/s{_beyond(mine)}; the lowest of the grid is {worst.name}: ")
    lines[-1] += f"{worst.rate:.1f}{_beyond(worst)}."
    return lines


def _beyond(one: Forecast) -> str:
    return f", beyond which the {one.fails} is missed first" if one.fails else ""
