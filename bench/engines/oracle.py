"""How fast an engine should have been: the reference scheduler in simulated time, with the same arrivals.

Each simulated iteration takes as long as an iteration of these rows and tokens did in the run itself, and as much longer or
shorter as the one that ran at that moment. So what differs is which sequences ran together, and when, whatever the host did.
How long iterations take is another question; the run's are compared with those of the closed loops.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from batchproof.bench.engines.calibration import Pace
from batchproof.bench.engines.own_times import OwnTimes, own_times
from batchproof.load.generation.runs import TextRun
from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.reference_batcher.continuous.simulator import SimulatedEngine, simulate
from batchproof.stats.arrays import Ints
from batchproof.stats.gates import FAIL, INCONCLUSIVE, PASS

# By target: vLLM documents the decisions that the reference makes. The ratio of others is reported and not judged.
MARGINS: Mapping[str, float] = {"continuous": 0.05, "vllm": 0.15}


@dataclass(frozen=True)
class Comparison:
    """A run and its simulation: mean times in ns, measured and simulated, by `ttft`, `itl` and `e2e`.

    slowness: the mean iteration of the run over what the pace of the closed loops says; None if that is not known.
    """

    measured: Mapping[str, float]
    simulated: Mapping[str, float]
    slowness: float | None = None

    @property
    def ratios(self) -> Mapping[str, float]:
        """Measured over simulated."""
        return {name: ns / self.simulated[name] for name, ns in self.measured.items() if self.simulated.get(name)}

    def verdict(self, target: str) -> str:
        """PASS: each mean is within the margin. FAIL: one is longer. INCONCLUSIVE: one is shorter, which is impossible.

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
        means = {"measured_ns": dict(self.measured), "simulated_ns": dict(self.simulated)}
        return {**means, "ratios": dict(self.ratios), "slowness": self.slowness}


def compared(run: TextRun, config: EngineConfig, pace: Pace | None) -> Comparison | None:
    """Compare a run with its simulation; None if too few iterations are seen, or a request had no answer."""
    samples = run.samples
    own = own_times(run.lines)
    if own is None or not samples.whole.answered.all():
        return None
    found = predicted(run, config, own)
    times = {"ttft": (samples.ttft_ns, found.ttft_ns), "itl": (samples.gap_ns, found.itl_ns)}
    times["e2e"] = (samples.latency_ns, found.e2e_ns)
    known = {name: both for name, both in times.items() if len(both[0]) and len(both[1])}
    measured, simulated = ({name: float(np.mean(both[side])) for name, both in known.items()} for side in (0, 1))
    return Comparison(measured, simulated, own.mean_ns / _at_pace_ns(run, pace) if pace else None)


def predicted(run: TextRun, config: EngineConfig, own: OwnTimes) -> SimulatedEngine:
    """Simulate the requests of a run; the first iteration begins with the first request."""
    asked = run.demand
    due, prompts, texts = asked.schedule.due_ns, asked.prompts, asked.texts
    first_ns = int(due[0])
    return simulate(
        config, due, prompts, texts, 1, 0, takes_ns=lambda now, rows, tokens: own.takes_ns(now - first_ns, rows, tokens)
    )


def _at_pace_ns(run: TextRun, pace: Pace) -> float:
    """Return the mean of what the iterations of a run take at this pace."""
    sizes = [(len(line["rows"]), sum(row[2] for row in line["rows"])) for line in run.lines]
    return float(np.mean([pace.takes_ns(rows, tokens) for rows, tokens in sizes]))


def gaps_of(found: SimulatedEngine, mask: Any) -> Ints:
    """Return the times between two tokens of the requests for which `mask` (bool [n]) is true."""
    kept = [np.diff(times) for times, wanted in zip(found.token_ns, mask.tolist(), strict=True) if wanted]
    return np.concatenate([*kept, np.zeros(0, np.int64)])
