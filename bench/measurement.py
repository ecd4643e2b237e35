"""What every measurement of a bench is given, and the table of measurements.

A measurement is one function `measure(bench) -> dict` in a module of its own. It raises `workload.Skipped` with the reason
why it cannot be done here. What it returns is a line of `bench.jsonl`:

    valid: bool; reasons: list[str]      false: its figures are no result, and why
    partly: bool                         where it is not valid: some of its parts are, and the headline is about those alone
    headline: str                        the one line that a person reads first
    verdict: "PASS" | "FAIL" | "INCONCLUSIVE" | ""   where it has a gate; "" where it only measures
    tables: [{"title", "heads": [str], "rows": [[str | int | float | None]]}]   what bench.md shows
    anything else: the figures in full, with their units in their names
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from batchproof.bench.record import Record
from batchproof.load.workload import WORKS, Served, Work, serve
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.targets.protocol import TargetGone
from batchproof.targets.verbs import FullTarget

if TYPE_CHECKING:
    from batchproof.bench.oracle.curve import Curve
    from batchproof.load.runs import Run

Result = dict[str, Any]
WAIT_NS = 30_000_000_000
ATTEMPTS = (3, 2)  # full, quick
PATIENT_S = (600.0, 25.0)  # after this nothing is made again, so that a bench ends in time on a noisy host too


@dataclass(frozen=True)
class Price:
    """What the target's machine costs."""

    per_hour: float
    currency: str = "EUR"


@dataclass
class Bench:
    """One bench of one target.

    works: the models under load. wait_ns: how long to wait for what is outstanding at the end of a run. slo_ns: the p99 to
    hold; 0: none was given. said: is told what is going on. curves: tau(b) as measured in this bench, by the work's name;
    ways_ns: what a lone batch takes beyond it until the client has the answer, and keeps no instance busy; fastest_ns: the
    fastest execution of one row that was seen. results: of what was measured so far.
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
    curves: dict[str, Curve] = field(default_factory=dict)
    ways_ns: dict[str, int] = field(default_factory=dict)
    fastest_ns: dict[str, int] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)
    results: dict[str, Result] = field(default_factory=dict)

    def say(self, text: str) -> None:
        """Tell what is going on now."""
        self.said(text)

    def seconds(self, full: float, quick: float) -> float:
        """Choose how long a run is."""
        return quick if self.quick else full

    def curve(self, work: Work) -> Curve:
        """Return tau(b) of a work: as measured earlier in this bench, else measured now."""
        from batchproof.bench.measurements.static import curve_of

        return curve_of(self, work)

    def serve(self, work: Work, config: BatcherConfig, **more: Any) -> Served:
        """Bring a model up on the target; Skipped as `workload.serve`."""
        return serve(self.target, work, config, wait_ns=self.wait_ns, **more)

    def valid(self, make: Callable[[], Run], *, least: int = 1) -> Run:
        """Return a run; what is INVALID is made again, a few times, and the last one stands if none is valid.

        least: attempts that are made however late it is, for a run on which others depend.
        """
        from batchproof.load.runs import until_valid

        return until_valid(make, max(least, self.attempts), self.check_alive)

    @property
    def attempts(self) -> int:
        """How often a run is made until it is valid. One whose figures are merely bad never is made again."""
        late = time.monotonic() - self.started > PATIENT_S[int(self.quick)]
        return 1 if late else ATTEMPTS[int(self.quick)]

    def keep(self, name: str, run: Run) -> Result:
        """Keep a run's samples; return its summary with the path to them. TargetGone if the target died under it."""
        kept = {**run.summary(), "samples": self.record.samples(name, run.samples)}
        self.check_alive()
        return kept

    def check_alive(self) -> None:
        """Raise TargetGone if the target cannot be measured any more."""
        if why := self.target.alive():
            raise TargetGone(why)


@dataclass(frozen=True)
class Measurement:
    """A line of the table: its name, the module with its `measure`, what it answers, and about how long it takes.

    quick_s, full_s: seconds for each work, as expected on two cores. whole: it takes no longer for several works. does: what
    it does, where that is no module's `measure`.
    """

    name: str
    module: str
    question: str
    quick_s: float
    full_s: float
    whole: bool = False
    does: Callable[[Bench], Result] | None = None

    def measure(self, bench: Bench) -> Result:
        """Do it."""
        if self.does:
            return self.does(bench)
        result: Result = import_module(f"batchproof.bench.measurements.{self.module}").measure(bench)
        return result

    def expected_s(self, bench: Bench) -> float:
        """Return about how long it takes."""
        return bench.seconds(self.full_s, self.quick_s) * (1 if self.whole else len(bench.works))


# In the order in which they are done: the curve first, as all that follow compare with it.
MEASUREMENTS = (
    Measurement("static", "static", "what a batch of b rows takes, and where the knee is", 6, 25),
    Measurement("naive", "naive", "does batching pay, against one request at a time", 10, 50),
    Measurement("sweep", "sweep", "which size and delay, closed and open loop, beside the oracle", 26, 350),
    Measurement("isolation", "isolation", "who suffers when another model or level is busy", 24, 90, whole=True),
    Measurement(
        "overload", "overload", "goodput, refusals and recovery at 0.5 to 3 times the capacity", 28, 180, whole=True
    ),
    Measurement("cost", "cost", "what a million inferences cost", 1, 1),
    Measurement("gpu", "gpu", "the same on CUDA", 20, 90, whole=True),
)


def by_name() -> dict[str, Measurement]:
    """Return the table by name."""
    return {one.name: one for one in MEASUREMENTS}
