"""The load that a bench puts on engines: lengths or a trace, arrivals, and the objective."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from batchproof.load.generation.demand import Demand, demand
from batchproof.load.generation.lengths import Lengths
from batchproof.load.generation.samples import Objective
from batchproof.load.schedule import Schedule, constant, poisson
from batchproof.load.workload import MS, Work
from batchproof.reference_batcher.continuous import EngineConfig

ARRIVALS = ("poisson", "constant")
PROMPTS, TEXTS = Lengths(64, 0.6, 192), Lengths(16, 0.6, 48)
WORKS = {
    work.name: work
    for work in (
        Work("accelerator", "a device that takes 10 ms + 0.05 ms a token", 10 * MS, MS // 20),
        Work("bare", "the engine itself, whose model takes next to no time"),
    )
}
TTFT_ITERATIONS, ITL_ITERATIONS = 10, 2  # the default objective, in iterations that use the whole budget


@dataclass(frozen=True)
class Texts:
    """The load of a bench of engines. trace: requests that replace lengths and arrivals, or None.

    ttft_ns, itl_ns: the objective; 0: a default that follows from the speed of the engine.
    """

    prompts: Lengths = PROMPTS
    texts: Lengths = TEXTS
    arrivals: str = "poisson"
    trace: Demand | None = None
    ttft_ns: int = 0
    itl_ns: int = 0

    def asked(self, rate: float, seconds: float, seed: int, config: EngineConfig) -> Demand:
        """Return requests that arrive at this rate for `seconds`; from a trace, at most as many as it has."""
        if self.trace is not None:
            return self.trace.at_rate(rate, seconds)
        arrivals = constant(rate, seconds) if self.arrivals == "constant" else poisson(rate, seconds, seed, exact=True)
        return self.due(arrivals, seed, config)

    def due(self, schedule: Schedule, seed: int, config: EngineConfig) -> Demand:
        """Return requests that arrive on this schedule; the lengths of a trace are repeated."""
        if self.trace is None:
            return demand(schedule, self.prompts, self.texts, seed, longest=config.max_model_len)
        prompts, texts = (np.resize(one, schedule.count) for one in (self.trace.prompts, self.trace.texts))
        return Demand(schedule, prompts, texts, np.zeros(schedule.count, np.int32), self.trace.spec)

    def list(self, count: int, seed: int, config: EngineConfig) -> Demand:
        """Return `count` requests without times, for a closed loop."""
        return self.due(Schedule(np.zeros(count, np.int64), f"{count} requests", 1), seed, config)

    def objective(self, full_ns: int) -> Objective:
        """Return the objective. full_ns: how long an iteration that uses the whole token budget takes."""
        return Objective(self.ttft_ns or TTFT_ITERATIONS * full_ns, self.itl_ns or ITL_ITERATIONS * full_ns)
