"""The highest rate at which each configuration of an engine meets the objective, predicted by the simulated reference."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from batchproof.bench.engines.asked import Texts
from batchproof.bench.engines.calibration import Pace
from batchproof.load.generation.demand import Demand
from batchproof.load.generation.samples import Objective
from batchproof.load.samples import Bools
from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.reference_batcher.continuous.simulator import simulate

PERCENT = 99.0  # share of the requests that must meet the objective
STEPS, HALVINGS = 10, 5  # rates to scan upwards, and steps of the bisection


@dataclass(frozen=True)
class Forecast:
    """A configuration as simulated.

    rate: the highest requests/s, scanning upwards, at which 99 % of the requests meet the objective; 0: not even a tenth of
    what its rows can serve. fails: which is missed first above that rate, `TTFT` or `ITL`; "" if none.
    """

    config: EngineConfig
    rate: float
    fails: str = ""

    @property
    def name(self) -> str:
        """Its two limits, as a name."""
        return name_of(self.config)


def name_of(config: EngineConfig) -> str:
    """Return the name of a configuration: its two limits."""
    return f"{config.max_num_seqs} rows, {config.max_num_batched_tokens} tokens"


@dataclass(frozen=True)
class Model:
    """The engine as the simulator knows it, and its load. requests: of each simulation."""

    texts: Texts
    pace: Pace
    objective: Objective
    seed: int
    requests: int = 800

    def kept(self, config: EngineConfig, asked: Demand) -> tuple[Bools, Bools]:
        """Return which requests get their first token in time, and which have no gap that is too long: bool [n] each."""
        found = simulate(
            config,
            asked.schedule.due_ns,
            asked.prompts,
            asked.texts,
            self.pace.takes_ns(config.max_num_seqs),
            round(self.pace.token_ns),
        )
        said = np.array([times.size > 0 for times in found.token_ns])
        gaps = np.array([int(np.diff(times).max(initial=0)) for times in found.token_ns], np.int64)
        return said & (found.ttft_ns <= self.objective.ttft_ns), said & (gaps <= self.objective.itl_ns)

    def share(self, config: EngineConfig, asked: Demand) -> float:
        """Return the share of the requests that meet the objective."""
        first, gaps = self.kept(config, asked)
        return float(np.mean(first & gaps))

    def forecast(self, config: EngineConfig) -> Forecast:
        """Scan rates upwards, so that an island of good rates above bad ones is never the answer."""
        most = self._most(config)
        good, bad = 0.0, 0.0
        for step in range(1, STEPS + 1):
            rate = most * step / STEPS
            if not self._holds(config, rate):
                bad = rate
                break
            good = rate
        if not bad:
            return Forecast(config, good)
        for _ in range(HALVINGS):
            middle = (good + bad) / 2
            good, bad = (middle, bad) if self._holds(config, middle) else (good, middle)
        return Forecast(config, good, self._lost(config, bad))

    def _asked(self, config: EngineConfig, rate: float) -> Demand:
        return self.texts.asked(rate, self.requests / rate, self.seed, config)

    def _holds(self, config: EngineConfig, rate: float) -> bool:
        return self.share(config, self._asked(config, rate)) * 100 >= PERCENT

    def _lost(self, config: EngineConfig, rate: float) -> str:
        first, gaps = self.kept(config, self._asked(config, rate))
        return "TTFT" if np.mean(first) <= np.mean(gaps) else "ITL"

    def _most(self, config: EngineConfig) -> float:
        """Return the requests/s that a full batch would serve."""
        sample = self.texts.list(self.requests, self.seed, config)
        tokens = float(sample.prompts.sum() + sample.texts.sum() - sample.count)
        iterations = max(float(sample.texts.sum()) / config.max_num_seqs, tokens / config.max_num_batched_tokens)
        took_ns = iterations * self.pace.takes_ns(config.max_num_seqs) + tokens * self.pace.token_ns
        return sample.count * 1e9 / took_ns


def forecasts(model: Model, grid: Iterable[EngineConfig], say: Callable[[str], None]) -> list[Forecast]:
    """Return the forecast of each configuration, the highest rate first; of equal rates, the smaller limits first."""
    found = []
    for config in grid:
        say(f"simulating {name_of(config)}")
        found.append(model.forecast(config))
    return sorted(found, key=lambda one: (-one.rate, one.config.max_num_seqs, one.config.max_num_batched_tokens))
