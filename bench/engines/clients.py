"""Fairness among clients: one asks for little, the other for more than the engine can serve.

The light client sends the same few requests twice, alone and alongside the heavy one. For each client, two shares are
measured: the tokens it asked for that come while load is offered, and its requests that meet the objective.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from batchproof.bench.each_work import measured, summed_up
from batchproof.bench.engines.calibration import Calibrate
from batchproof.bench.engines.latency import quantile
from batchproof.bench.engines.serving import opened
from batchproof.bench.measurement import Bench
from batchproof.bench.result import Result
from batchproof.load.generation.demand import merged
from batchproof.load.generation.runs import TextRun
from batchproof.load.generation.samples import Objective
from batchproof.load.workload import Work

LIGHT, HEAVY = 0.2, 1.3  # shares of the saturation
NAMES = ("light", "heavy")


@dataclass(frozen=True)
class Client:
    """What one client gets. rate: requests/s. served: the share of its tokens that comes while load is offered.

    within: the share of its requests that meet the objective. ttft_p50_ns: None if half of them got nothing.
    """

    rate: float
    requests: int
    served: float
    within: float
    ttft_p50_ns: int | None


@dataclass(frozen=True, eq=False)
class Clients:
    """Two clients on one engine, and the light one alone."""

    alone: TextRun
    together: TextRun
    objective: Objective
    paths: tuple[str, ...]
    spoilt: tuple[str, ...] = ()

    @property
    def shares(self) -> Mapping[str, Client]:
        """What each client gets, by `light alone`, `light` and `heavy`."""
        both = {name: _client(self.together, number, self.objective) for number, name in enumerate(NAMES)}
        return {"light alone": _client(self.alone, 0, self.objective), **both}

    @property
    def least_to_mean(self) -> float | None:
        """The smaller of the two clients' shares of their tokens, over the mean of both (1: both are served equally)."""
        served = [self.shares[name].served for name in NAMES]
        return min(served) / float(np.mean(served)) if any(served) else None

    @property
    def reasons(self) -> tuple[str, ...]:
        """Every reason against the figures."""
        told = {"alone": self.alone, "together": self.together}
        runs = tuple(f"{name}: {why}" for name, run in told.items() for why in run.validity.reasons)
        return (*(f"saturation: {why}" for why in self.spoilt), *runs)

    @property
    def valid(self) -> bool:
        """Whether they are a result."""
        return not self.reasons

    @property
    def verdict(self) -> str:
        """An empty string: there is no gate, because few engines promise more than serving in order of arrival."""
        return ""

    @property
    def says(self) -> str:
        """The effect of the heavy client on the light one."""
        alone, light, heavy = self.shares.values()
        served = f"{light.served:.0%} of its tokens in time and the heavy one {heavy.served:.0%}"
        kept = f"{alone.within:.0%} -> {light.within:.0%} meet the objective"
        return f"alongside a heavy client, a light one gets {served}; {kept}"

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        about = {"valid": self.valid, "reasons": list(self.reasons), "samples": list(self.paths)}
        known: dict[str, Any] = {"clients": {name: vars(one) for name, one in self.shares.items()}}
        known |= {"least_to_mean": self.least_to_mean, "says": self.says}
        return about | (known if self.valid else {"discarded": known})


def measure(bench: Bench, calibrate: Calibrate) -> Result:
    """Load each work with two clients."""
    return summed_up(measured(bench.works, partial(_measured, bench, calibrate)))


def _client(run: TextRun, number: int, objective: Objective) -> Client:
    mine = run.demand.client == number
    samples = run.samples.part(mine)
    served = samples.tokens_by(run.duration_ns) / int(run.demand.texts[mine].sum())
    within = float(np.mean(samples.within(objective)))
    rate = samples.count * 1e9 / run.duration_ns
    return Client(rate, samples.count, served, within, quantile(samples.ttft_ns, 50))


def _measured(bench: Bench, calibrate: Calibrate, work: Work) -> Clients:
    known = calibrate(work)
    capacity, seconds = known.run.requests_per_s, bench.seconds(8.0, 3.0)
    with opened(bench, work, known.config) as serving:
        light, heavy = (
            bench.texts.asked(share * capacity, seconds, bench.seed + number, serving.config)
            for number, share in enumerate((LIGHT, HEAVY))
        )
        bench.say("clients: a light one alone")
        alone = serving.offer(light)
        bench.say("clients: a light one alongside a heavy one")
        together = serving.offer(merged(light, heavy))
        runs = {"alone": alone, "together": together}
        paths = tuple(serving.keep(f"{work.name}-clients-{name}", run) for name, run in runs.items())
    return Clients(alone, together, known.objective, paths, known.run.validity.reasons)
