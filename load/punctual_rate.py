"""How many requests a second can this machine send on time? `batchproof lab punctual-rate --target triton`.

A rate holds if the send lag's p99 stays under a limit in one of five runs: others on the machine can only add to it, so the
best run says what the machine does when it is left alone. Rates are doubled until one does not hold, and then narrowed down
between the last two. Beyond the rate that is found, several machines have to share the load (docs/spread.md).
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from batchproof.host.clock import HOST_CLOCK
from batchproof.load.closed_loop import Submit
from batchproof.load.punctuality import answers_at_once
from batchproof.load.runs import open_loop
from batchproof.load.schedule import poisson
from batchproof.load.workload import Work, serve
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.stats.arrays import NEVER
from batchproof.stats.percentile import percentile
from batchproof.targets import resolve
from batchproof.targets.lifecycle import close

RUNS, NARROWER, LEAST, MOST = 5, 4, 250.0, 256_000.0
WAIT_NS = 10_000_000_000
NOTHING = Work("nothing", "a model that does nothing")
CONFIG = BatcherConfig(max_batch_size=64)


@dataclass(frozen=True)
class Tried:
    """A rate, and the p99 of the send lag of each run at it; NEVER: so many were not sent. answered: of all requests."""

    rate: float
    lags_ns: tuple[int, ...]
    answered: float

    @property
    def lag_ns(self) -> int:
        """The best of the runs."""
        return min(self.lags_ns)

    def line(self, limit_ns: int) -> str:
        """Return what is printed about it."""
        lags = " ".join("never" if lag == NEVER else f"{lag / 1e6:.3f}" for lag in self.lags_ns)
        word = "holds" if self.lag_ns <= limit_ns else "is late"
        return f"{self.rate:9,.0f}/s  send lag p99, ms: {lags:40}  {self.answered:7.1%} answered  {word}"


def search(holds: Callable[[float], bool], least: float = LEAST, most: float = MOST) -> tuple[float, float]:
    """Return the highest rate that was seen to hold (0: none) and the lowest above it that was not (infinite: none)."""
    low, high = 0.0, math.inf
    rate = least
    while high == math.inf and rate <= most:
        low, high = (rate, high) if holds(rate) else (low, rate)
        rate *= 2
    for _ in range(NARROWER if low and high < math.inf else 0):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low, high


def tried(submit: Submit, rate: float, seconds: float, seed: int, limit_ns: int) -> Tried:
    """Send at a rate, until a run is punctual enough, at most RUNS times."""
    lags_ns: list[int] = []
    answered = count = 0
    while len(lags_ns) < RUNS and (not lags_ns or lags_ns[-1] > limit_ns):
        run = open_loop(submit, HOST_CLOCK, poisson(rate, seconds, seed + len(lags_ns)), wait_ns=WAIT_NS)
        lags_ns.append(int(percentile(run.samples.lag_ns, 99)))
        answered, count = answered + int(run.samples.answered.sum()), count + run.samples.count
    return Tried(rate, tuple(lags_ns), answered / count)


@contextlib.contextmanager
def receiver(name: str) -> Iterator[Submit]:
    """Yield what sends to a target: null, which answers at once and is the floor, or what `--target` names."""
    if name == "null":
        yield answers_at_once
        return
    target = resolve(name)
    try:
        with serve(target, NOTHING, CONFIG, wait_ns=WAIT_NS) as served:
            yield served.submit
    finally:
        close(target)


def print_rate(name: str, *, limit_ms: float = 1.0, seconds: float = 2.0, seed: int = 1) -> float:
    """Find the rate for a target, print every step, and return it; 0 if even the least is late. TargetError as `resolve`."""
    limit_ns = round(limit_ms * 1e6)
    with receiver(name) as submit:

        def holds(rate: float) -> bool:
            found = tried(submit, rate, seconds, seed, limit_ns)
            print(found.line(limit_ns), flush=True)
            return found.lag_ns <= limit_ns

        low, high = search(holds)
    if not low:
        print(f"{name}: not even {LEAST:g}/s with a p99 of the send lag within {limit_ms:g} ms")
    else:
        beyond = "no rate that was tried is too much" if high == math.inf else f"{high:,.0f}/s is too much"
        print(f"{name}: {low:,.0f}/s with a p99 of the send lag within {limit_ms:g} ms; {beyond}")
    return low
