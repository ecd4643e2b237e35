"""Is the service level kept? Three answers, and a neighbour's latency counts for what it is worth.

MLPerf's early stopping asks for a Clopper-Pearson bound on the share of requests over the limit, as if they were
independent. In a queue they are not: one slow batch makes many slow requests. The same bound on the effective sample size
keeps its word.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from batchproof.stats.arrays import Ints
from batchproof.stats.autocorrelation import integrated_time
from batchproof.stats.percentile import CONFIDENCE, percentile

PASS, FAIL, UNDECIDED = "PASS", "FAIL", "UNDECIDED"


@dataclass(frozen=True)
class Slo:
    """The verdict on `percent` of requests below a limit.

    over: requests above it; of count. effective: what the count is worth, count / tau.
    share_low, share_high: one-sided bounds on the true share over the limit, each with the confidence asked for.
    """

    verdict: str
    over: int
    count: int
    effective: float
    tau: float
    share_low: float
    share_high: float

    def to_json(self) -> dict[str, Any]:
        """Return JSON data."""
        return asdict(self)


def below(latency_ns: Ints, limit_ns: int, percent: float = 99.0, confidence: float = CONFIDENCE) -> Slo:
    """Decide whether `percent` of requests take at most `limit_ns`; latencies int64 [n] in the order of the schedule.

    PASS: with this confidence no more than 100 - percent of them are over. FAIL: with this confidence more are.
    UNDECIDED: a longer run would tell. ValueError without any request; MissingPackage without scipy.
    """
    count = len(latency_ns)
    late = latency_ns > limit_ns
    over = int(late.sum())
    typical_ns = percentile(latency_ns, percent)
    tau = max(integrated_time(late), integrated_time(latency_ns > typical_ns))
    effective = count / tau
    low, high = bounds(over / tau, effective, confidence)
    allowed = 1 - percent / 100
    verdict = PASS if high <= allowed else FAIL if low > allowed else UNDECIDED
    return Slo(verdict, over, count, effective, tau, low, high)


def bounds(over: float, count: float, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return one-sided bounds on a share, `over` of `count`, whole or not (Clopper and Pearson, Biometrika 26, 1934)."""
    try:
        from scipy.special import betaincinv
    except ImportError:
        raise MissingPackage("scipy") from None
    low = float(betaincinv(over, count - over + 1, 1 - confidence)) if over > 0 else 0.0
    high = float(betaincinv(over + 1, count - over, confidence)) if over < count else 1.0
    return low, high


class MissingPackage(ImportError):
    """An optional package is absent; the message says how to get it."""

    def __init__(self, package: str) -> None:
        super().__init__(f"this needs {package}: pip install 'batchproof[bench]'", name=package)
