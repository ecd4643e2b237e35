"""Is a run worth reporting? Its samples and what the host did decide. Every reason against it contains a number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from batchproof.load.samples import OUTCOMES, UNANSWERED, Samples
from batchproof.stats.arrays import NEVER
from batchproof.stats.percentile import fewest, percentile

LAG_OF_SLO = 0.05  # of the SLO: then lag hardly moves the share of requests beyond it, whatever the target does
LAG_OF_MEDIAN = 0.10  # of the median service time: nine tenths of what is measured is still the target's
LAG_FLOOR_NS = 200_000  # a sleeping thread on an ordinary kernel cannot promise less than this
LAG_CEILING_NS = 2_000_000  # beyond this it is not ordinary lateness: the generator did not run
STALLED_SHARE = 0.01  # a host that stands still for 1 % of the time makes the p99 on its own
LEAST_STALL_NS = 1_000_000
KEPT_UP = 0.99  # the share of requests that must be sent before the schedule ends


@dataclass(frozen=True)
class Validity:
    """Why a run is not a result; without reasons it is one."""

    reasons: tuple[str, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether no reason speaks against it."""
        return not self.reasons

    def __str__(self) -> str:
        """VALID, or INVALID with all its reasons."""
        return "VALID" if self.valid else f"INVALID: {'; '.join(self.reasons)}"


@dataclass(frozen=True)
class Asked:
    """What a run is meant to show.

    slo_ns: the latency that is judged; None: none is. percent: the percentile that is asked for; None: none is.
    compute_threads: the threads with which the models in this process compute, over all instances; 0: none do.
    """

    slo_ns: int | None = None
    percent: float | None = None
    compute_threads: int = 0


@dataclass(frozen=True)
class Seen:
    """What the host did: the stalls that were seen, over how long, and how many cores there are (0: simulated time)."""

    stalls_ns: Sequence[int] = ()
    lasted_ns: int = 0
    cores: int = 0


def judge(samples: Samples, asked: Asked, seen: Seen, *, end_ns: int | None, wait_ns: int) -> Validity:
    """Judge a run. end_ns: when the schedule ends; None: a closed loop, which has no schedule."""
    allowed_ns = allowed_lag_ns(samples, asked.slo_ns)
    reasons = [
        *(_lag(samples, allowed_ns, end_ns) if end_ns is not None else ()),
        *_stalls([one for one in seen.stalls_ns if one >= max(allowed_ns, LEAST_STALL_NS)], seen.lasted_ns),
        *_counts(samples, asked, wait_ns),
    ]
    if seen.cores and asked.compute_threads > seen.cores:
        reasons.append(
            f"threads oversubscribed: the models compute with {asked.compute_threads} threads on {seen.cores} cores "
            "(set OMP_NUM_THREADS=1 and MKL_NUM_THREADS=1 before the start, or fewer instances)"
        )
    return Validity(tuple(reasons))


def allowed_lag_ns(samples: Samples, slo_ns: int | None) -> int:
    """Return how late the generator may be at its p99: a share of the SLO, or else of the median service, within bounds."""
    if slo_ns is not None:
        return int(slo_ns * LAG_OF_SLO)
    service_ns = samples.service_ns[samples.answered]
    share_ns = int(percentile(service_ns, 50) * LAG_OF_MEDIAN) if len(service_ns) else 0
    return min(max(share_ns, LAG_FLOOR_NS), LAG_CEILING_NS)


def _lag(samples: Samples, allowed_ns: int, end_ns: int) -> list[str]:
    reasons = []
    if samples.count and (lag_ns := percentile(samples.lag_ns, 99)) > allowed_ns:
        late = "never sent" if lag_ns == NEVER else f"{lag_ns / 1e6:.3f} ms"
        reasons.append(f"the generator was late: send lag p99 {late}, allowed {allowed_ns / 1e6:.3f} ms")
    in_time = int(np.count_nonzero(samples.sent_ns <= end_ns + allowed_ns))
    if in_time < KEPT_UP * samples.count:
        reasons.append(f"the rate was not reached: {in_time} of {samples.count} requests were sent by the schedule's end")
    return reasons


def _stalls(stalls_ns: Sequence[int], duration_ns: int) -> list[str]:
    if sum(stalls_ns) <= STALLED_SHARE * duration_ns:
        return []
    share = 100 * sum(stalls_ns) / max(1, duration_ns)
    often = "once" if len(stalls_ns) == 1 else f"{len(stalls_ns)} times"
    return [f"the host stalled {often}, {sum(stalls_ns) / 1e6:.1f} ms in all, {share:.1f} % of the run"]


def _counts(samples: Samples, asked: Asked, wait_ns: int) -> list[str]:
    reasons = []
    if asked.percent is not None and samples.count < (needed := fewest(asked.percent)):
        reasons.append(f"too few requests for p{asked.percent:g}: {samples.count}, and a bound needs {needed}")
    if lost := int(np.count_nonzero(samples.outcome == OUTCOMES.index(UNANSWERED))):
        reasons.append(f"{lost} of {samples.count} requests had no answer {wait_ns / 1e9:g} s after the last was due")
    if not samples.answered.any():
        reasons.append("no request was answered")
    return reasons
