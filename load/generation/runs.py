"""Runs of load on an engine: played, checked and judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from batchproof.host.clock import HOST_CLOCK, Clock
from batchproof.host.watch import conditions, cores, sharp_timer
from batchproof.load.generation.correctness import excesses, mistakes
from batchproof.load.generation.demand import Demand
from batchproof.load.generation.player import Player, requests_of
from batchproof.load.generation.samples import Objective, TextSamples
from batchproof.load.runs import CLOSED, OPEN
from batchproof.load.validity import Asked, Seen, Validity, judge
from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.stats.arrays import NEVER
from batchproof.targets.engines import Engine
from batchproof.targets.witness.languages import Language


@dataclass(frozen=True, eq=False)
class TextRun:
    """One run of load on an engine, and everything known about it.

    duration_ns: how long load was offered. lines: the witness's iterations, empty if they are not visible. wrong: what the
    engine did that it must never do; such a run is INVALID, and is not repeated. host: JSON data, empty in simulated time.
    """

    kind: str
    demand: Demand
    samples: TextSamples
    duration_ns: int
    validity: Validity
    lines: Sequence[Mapping[str, Any]] = ()
    wrong: tuple[str, ...] = ()
    host: dict[str, Any] = field(default_factory=dict)

    @property
    def valid(self) -> bool:
        """Whether it may be reported."""
        return self.validity.valid

    @property
    def tokens_per_s(self) -> float:
        """Output tokens per second while load was offered."""
        return self.samples.tokens_by(self.duration_ns) * 1e9 / self.duration_ns

    @property
    def requests_per_s(self) -> float:
        """Texts completed per second while load was offered."""
        done = self.samples.whole.done_ns[self.samples.whole.answered]
        return float(np.count_nonzero(done <= self.duration_ns)) * 1e9 / self.duration_ns

    def goodput(self, objective: Objective) -> float:
        """Return how many requests per second of load meet the objective, whenever they end."""
        return float(np.count_nonzero(self.samples.within(objective))) * 1e9 / self.duration_ns


@dataclass(frozen=True)
class Loaded:
    """An engine under load: its configuration, and what is known about it."""

    engine: Engine
    config: EngineConfig
    language: Language
    wait_ns: int
    stepped: bool = True
    clock: Clock = HOST_CLOCK

    def offer(self, demand: Demand) -> TextRun:
        """Play a schedule: an open loop."""
        return self._run(OPEN, demand, 0, 0.0)

    def saturate(self, demand: Demand, clients: int, seconds: float) -> TextRun:
        """Keep `clients` clients busy for `seconds`: a closed loop, with the lengths of `demand` in order."""
        return self._run(CLOSED, demand, clients, seconds)

    def _run(self, kind: str, demand: Demand, clients: int, seconds: float) -> TextRun:
        requests = requests_of(demand, self.language)
        with conditions(simulated=self.clock.simulated) as watch:
            if not self.clock.simulated:
                sharp_timer()
            player = Player(self.engine, self.clock, requests, wait_ns=self.wait_ns, stepped=self.stepped)
            samples = player.keep_busy(demand, clients, seconds) if clients else player.play(demand)
        wrong = (
            *player.wrong[:1],
            *mistakes(requests[: samples.count], player.texts[: samples.count], samples, self.language),
            *excesses(player.lines, self.config.max_num_seqs, self.config.max_num_batched_tokens),
        )
        ready_ns = int(samples.ready_ns[samples.ready_ns < NEVER].max(initial=0))
        end_ns = None if clients else max(demand.schedule.end_ns, ready_ns)
        duration_ns = int(samples.whole.sent_ns.max(initial=1)) if clients else demand.schedule.end_ns
        seen = Seen(watch.stalls_ns, watch.lasted_ns or duration_ns, cores() if watch.facts else 0)
        found = judge(samples.sendable, Asked(), seen, end_ns=end_ns, wait_ns=self.wait_ns)
        validity = Validity((*wrong, *found.reasons))
        return TextRun(kind, demand, samples, max(1, duration_ns), validity, player.lines, wrong, watch.facts)
