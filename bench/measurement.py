"""What every measurement of a bench is given; what it gives back is in `result.py`.

A measurement is a function `measure(bench, calibrate) -> Result` in a module of its own below `measurements/`. It raises
`workload.Skipped` with the reason why it cannot be done here. It needs nothing but its arguments, and it leaves nothing for
the next one: what several measurements need of a target is in `calibration.py`. `plan.py` lists them all, and a module of
the same name below `tables/` lays a result out for people.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from batchproof.bench.engines.asked import Texts
from batchproof.bench.fit import fitted
from batchproof.bench.record import Record
from batchproof.bench.under_load import UnderLoad
from batchproof.load.runs import open_loop, until_valid
from batchproof.load.schedule import Schedule
from batchproof.load.spread.crew import Crew
from batchproof.load.traffic import Traffic
from batchproof.load.workload import WORKS, Served, Work, serve
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.targets.protocol import Misuse, TargetGone
from batchproof.targets.verbs import FullTarget

if TYPE_CHECKING:
    from batchproof.load.runs import Run

WAIT_NS = 30_000_000_000
ATTEMPTS = (3, 2)  # full, quick
PATIENT_S = (600.0, 25.0)  # after this no run is repeated, so that a bench ends in time on a noisy host too


class NotSpreadable(Misuse):
    """A crew cannot send to this model, so the bench ends; the message says why."""

    def __init__(self, target: str, model: str = "") -> None:
        why = (
            f"workers send requests of the witness, and none for the model '{model}'"
            if model
            else (f"{target} is not reached over the network, or its adapter has no `route`")
        )
        super().__init__(f"--workers: {why}; leave --workers out")


@dataclass(frozen=True)
class Price:
    """What the target's machine costs."""

    per_hour: float
    currency: str = "EUR"


@dataclass(frozen=True)
class Bench:
    """One bench of one target: its settings, and the runs that measurements are made of.

    works: the models under load. slo_ns: the p99 to hold; 0: none was given. wait_ns: how long to wait, at the end of a run,
    for requests that are still outstanding. said: is called with what is being done. under_load: judges what is sent; None:
    nobody does. crew: sends open loops from several machines; None: this process sends them. texts: what engines are asked
    for. started: on the monotonic clock, in s.
    """

    target: FullTarget
    record: Record
    quick: bool = False
    seed: int = 1729
    works: tuple[Work, ...] = (WORKS["accelerator"],)
    slo_ns: int = 0
    price: Price | None = None
    wait_ns: int = WAIT_NS
    said: Callable[[str], None] = lambda _text: None
    under_load: UnderLoad | None = None
    crew: Crew | None = None
    texts: Texts = field(default_factory=Texts)
    started: float = field(default_factory=time.monotonic)

    def say(self, text: str) -> None:
        """Say what is being done now."""
        self.said(text)

    def seconds(self, full: float, quick: float) -> float:
        """Return how long a run takes, in the full or in the quick form."""
        return quick if self.quick else full

    def fitted(self, config: BatcherConfig, *, crowded: bool = True) -> BatcherConfig:
        """Return the nearest configuration that the target can have, as in `fit.fitted`."""
        return fitted(config, self.target.info.claims, crowded=crowded)

    def serve(self, work: Work, config: BatcherConfig, **more: Any) -> Served:
        """Serve a model on the target; Skipped as in `workload.serve`. NotSpreadable if there is a crew for nothing."""
        served = serve(self.target, work, config, wait_ns=self.wait_ns, **more)
        if self.crew is not None and (served.deployment.route is None or work.model):
            served.close()
            raise NotSpreadable(self.target.info.name, work.model)
        if self.under_load is not None and not work.model:
            served.traffic = Traffic(served.clock.now_ns)
            served.at_end = partial(self.under_load.judge, served, config)
        return served

    def valid(self, make: Callable[[], Run], *, least: int = 1) -> Run:
        """Return a run. An INVALID one is repeated a few times; if none is valid, the last one stands.

        least: how many attempts are made however late it is, for a run that others depend on.
        """
        return until_valid(make, max(least, self.attempts), self.check_alive)

    def open_loop(self, served: Served, schedule: Schedule, **asked: Any) -> Run:
        """Offer a schedule to a model, from here or from the crew; asked: slo_ns, percent, as in `runs.open_loop`."""
        if self.crew is None or served.deployment.route is None:
            threads = served.threads
            return open_loop(served.submit, served.clock, schedule, wait_ns=self.wait_ns, compute_threads=threads, **asked)
        route, payload = served.deployment.route, served.payload
        return self.crew.open_loop(route, schedule, wait_ns=self.wait_ns, payload=payload, **asked)

    @property
    def attempts(self) -> int:
        """How often a run is made until it is valid. A run whose figures are merely bad is never repeated."""
        late = time.monotonic() - self.started > PATIENT_S[int(self.quick)]
        return 1 if late else ATTEMPTS[int(self.quick)]

    def keep(self, name: str, run: Run) -> dict[str, Any]:
        """Keep a run's samples; return its summary with the path to them. TargetGone if the target died under it."""
        kept = {**run.summary(), "samples": self.record.samples(name, run.samples)}
        self.check_alive()
        return kept

    def check_alive(self) -> None:
        """Raise TargetGone if the target cannot be measured any more."""
        if why := self.target.alive():
            raise TargetGone(why)
