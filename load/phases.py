"""Load in phases (before, spike, after), several loads at once, and what became of some of the requests. It has no clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from batchproof.load.samples import ANSWERED, OUTCOMES, Samples
from batchproof.load.schedule import Schedule, poisson
from batchproof.stats.arrays import NEVER
from batchproof.stats.percentile import percentile

Ints = npt.NDArray[np.int64]
S = 1_000_000_000


@dataclass(frozen=True)
class Phase:
    """A stretch of load: Poisson arrivals at `rate` requests/s for `seconds`, from `start_ns` of the run."""

    name: str
    start_ns: int
    seconds: float
    rate: float

    @property
    def end_ns(self) -> int:
        """Where the next one begins."""
        return self.start_ns + round(self.seconds * S)


def phases(*parts: tuple[str, float, float]) -> tuple[Phase, ...]:
    """Return phases one after another; a part is (name, seconds, requests/s)."""
    found: list[Phase] = []
    for name, seconds, rate in parts:
        found.append(Phase(name, found[-1].end_ns if found else 0, seconds, rate))
    return tuple(found)


def schedule(parts: Sequence[Phase], seed: int, *, alike: bool = False) -> Schedule:
    """Return Poisson arrivals through all phases.

    Each phase has a seed of its own, so that a change of one phase leaves the others alone. With `alike` all have the same
    seed: phases of one rate and length then have the very same arrivals, and what differs between them is not chance.
    """
    one_s = [
        poisson(part.rate, part.seconds, seed if alike else seed + place, exact=True) for place, part in enumerate(parts)
    ]
    due = [arrivals.due_ns + part.start_ns for arrivals, part in zip(one_s, parts, strict=True)]
    return Schedule(np.concatenate(due), "; then ".join(arrivals.spec for arrivals in one_s))


def merged(*schedules: Schedule) -> tuple[Schedule, Ints]:
    """Return all arrivals in order of time, and for each the index of its schedule: int64 [n]."""
    due = np.concatenate([one.due_ns for one in schedules])
    whose = np.repeat(np.arange(len(schedules)), [one.due_ns.size for one in schedules])
    order = np.argsort(due, kind="stable")
    return Schedule(due[order], " with ".join(one.spec for one in schedules)), whose[order]


def during(samples: Samples, phase: Phase) -> Samples:
    """Return the requests that were due in this phase, whenever they were answered."""
    due = samples.scheduled_ns
    return samples.part((due >= phase.start_ns) & (due < phase.end_ns))


@dataclass(frozen=True)
class Service:
    """What became of some of the requests.

    outcomes: how many ended in which way. attainment: the share of all requests that were answered within the SLO. goodput:
    how many that is for each second of load. offered: requests for each second of load. p50_ns, p99_ns: over all requests,
    where one without an answer takes for ever; None if the percentile falls on such a one. answered_p99_ns, longest_ns: over
    the answered requests alone, which flatters a target that refuses. Without any request, shares and times are None.
    """

    requests: int
    outcomes: Mapping[str, int]
    attainment: float | None
    goodput: float
    offered: float
    p50_ns: int | None
    p99_ns: int | None
    answered_p99_ns: int | None
    longest_ns: int | None

    @property
    def unanswered(self) -> int:
        """How many requests were refused, cancelled, or forgotten."""
        return self.requests - self.outcomes.get(ANSWERED, 0)

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        return asdict(self)


def service(samples: Samples, slo_ns: int, seconds: float) -> Service:
    """Return what became of requests that were offered within `seconds`."""
    n, late = samples.count, samples.latency_ns
    within = int(np.count_nonzero(late <= slo_ns))
    counts = np.bincount(samples.outcome, minlength=len(OUTCOMES))
    return Service(
        requests=n,
        outcomes={word: int(count) for word, count in zip(OUTCOMES, counts, strict=True) if count},
        attainment=within / n if n else None,
        goodput=within / seconds,
        offered=n / seconds,
        p50_ns=quantile(late, 50),
        p99_ns=quantile(late, 99),
        answered_p99_ns=quantile(late[late < NEVER], 99),
        longest_ns=int(late[late < NEVER].max()) if np.any(late < NEVER) else None,
    )


def quantile(values_ns: Ints, percent: float) -> int | None:
    """Return the percentile by nearest rank; None without values, or if it falls on a request that was not answered."""
    if not values_ns.size or (found := int(percentile(values_ns, percent))) >= NEVER:
        return None
    return found


def most_inside(samples: Samples) -> int:
    """Return the most answered requests that were sent and not yet answered at one moment: what a queue bound bounds.

    Refused requests are left out: they are answered at once and do not wait in a queue.
    """
    sent, done = samples.sent_ns[samples.answered], samples.done_ns[samples.answered]
    if not sent.size:
        return 0
    times = np.concatenate([done, sent])  # a request that leaves makes room for one that comes at the same moment
    steps = np.concatenate([np.full(done.size, -1), np.ones(sent.size, dtype=np.int64)])
    return int(np.cumsum(steps[np.argsort(times, kind="stable")]).max())
