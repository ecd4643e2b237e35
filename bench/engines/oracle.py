"""How fast an engine should have been: the reference scheduler in simulated time, on the same arrivals.

The simulated device takes as long for an iteration as the engine's own did, so what differs is which sequences ran together,
and when. What the simulation cannot know is how much the time of an iteration varies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from batchproof.bench.engines.calibration import Pace
from batchproof.load.generation.runs import TextRun
from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.reference_batcher.continuous.simulator import SimulatedEngine, simulate
from batchproof.stats.arrays import Ints
from batchproof.stats.gates import FAIL, INCONCLUSIVE, PASS

MARGINS: Mapping[str, float] = {"continuous": 0.05}  # by target; that of others is reported and not judged


@dataclass(frozen=True)
class Comparison:
    """A run beside its simulation: mean times in ns, measured and simulated, by `ttft`, `itl` and `e2e`."""

    measured: Mapping[str, float]
    simulated: Mapping[str, float]

    @property
    def ratios(self) -> Mapping[str, float]:
        """Measured over simulated."""
        return {name: ns / self.simulated[name] for name, ns in self.measured.items() if self.simulated.get(name)}

    def verdict(self, target: str) -> str:
        """PASS: each mean is within the margin. FAIL: one is longer. INCONCLUSIVE: one is shorter, which cannot be.

        An empty string for a target without a margin: its scheduler need not decide as the reference does.
        """
        if (margin := MARGINS.get(target)) is None:
            return ""
        ratios = self.ratios.values()
        if any(ratio > 1 + margin for ratio in ratios):
            return FAIL
        return INCONCLUSIVE if any(ratio < 1 - margin for ratio in ratios) else PASS

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        return {"measured_ns": dict(self.measured), "simulated_ns": dict(self.simulated), "ratios": dict(self.ratios)}


def compared(run: TextRun, config: EngineConfig, pace: Pace | None) -> Comparison | None:
    """Compare a run with its simulation; None if iterations are not seen, or a request had no answer."""
    samples = run.samples
    if pace is None or not run.lines or not samples.whole.answered.all():
        return None
    found = predicted(run, config, pace)
    times = {"ttft": (samples.ttft_ns, found.ttft_ns), "itl": (samples.gap_ns, found.itl_ns)}
    times["e2e"] = (samples.latency_ns, found.e2e_ns)
    known = {name: both for name, both in times.items() if len(both[0]) and len(both[1])}
    return Comparison(*({name: float(np.mean(both[side])) for name, both in known.items()} for side in (0, 1)))


def predicted(run: TextRun, config: EngineConfig, pace: Pace) -> SimulatedEngine:
    """Simulate the requests of a run; an iteration has as many rows there, in the mean, as it had in the run."""
    rows = float(np.mean([len(line["rows"]) for line in run.lines]))
    asked = run.demand
    due, prompts, texts = asked.schedule.due_ns, asked.prompts, asked.texts
    return simulate(config, due, prompts, texts, pace.takes_ns(rows), round(pace.token_ns))


def gaps_of(found: SimulatedEngine, mask: Any) -> Ints:
    """Return the times between two tokens of the requests for which `mask` (bool [n]) is true."""
    kept = [np.diff(times) for times, wanted in zip(found.token_ns, mask.tolist(), strict=True) if wanted]
    return np.concatenate([*kept, np.zeros(0, np.int64)])
