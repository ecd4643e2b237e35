"""Gates: every statistical conclusion of the project, each a pure function from data to one of three answers.

PASS: with the required confidence, the figure is within the required range. FAIL: with the same confidence, it is outside.
INCONCLUSIVE: the data cannot tell, but more of it, or a quieter host, may. A gate states two rates, and a selftest
measures both by simulation: the false alarms (how often it says PASS, or FAIL, if the true figure is exactly at the edge of
the range: at most 1 - confidence, each) and the power (how often it decides if the figure is better or worse by so much).

A gate judges figures and not runs: a run on a stalled host or from a late generator is INVALID (`load.validity`), and that
is said before a gate is used. A gate compares with a number that somebody chose. What compares two figures answers FASTER,
SLOWER, SAME, UNPROVEN or INVALID (`change`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from batchproof.stats import intervals
from batchproof.stats.arrays import Ints
from batchproof.stats.autocorrelation import integrated_time
from batchproof.stats.intervals import Interval
from batchproof.stats.percentile import percentile as nearest_rank
from batchproof.stats.quantiles import CONFIDENCE

Answer = Literal["PASS", "FAIL", "INCONCLUSIVE"]
PASS: Answer = "PASS"  # noqa: S105
FAIL: Answer = "FAIL"
INCONCLUSIVE: Answer = "INCONCLUSIVE"
STALLS = 3  # times the lateness of the host: so much of a miss may be due to it


@dataclass(frozen=True)
class Range:
    """The range that a figure must be in, ends included. None: no bound on that side."""

    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        """As people read it."""
        if self.low is not None and self.high is not None:
            return f"{self.low:g} to {self.high:g}"
        return f">= {self.low:g}" if self.low is not None else f"<= {self.high:g}" if self.high is not None else "anything"


def at_least(value: float) -> Range:
    """Require this much, or more."""
    return Range(low=value)


def at_most(value: float) -> Range:
    """Require this much, or less."""
    return Range(high=value)


def within(low: float, high: float) -> Range:
    """Require a figure between these."""
    return Range(low, high)


@dataclass(frozen=True)
class Conclusion:
    """The answer of a gate, and its grounds. asked: the required range. The other fields are those of `Interval`."""

    verdict: Answer
    asked: Range
    estimate: float | None
    low: float | None
    high: float | None
    confidence: float
    n: int
    effective: float

    def __str__(self) -> str:
        """The figure with its interval, as people read it."""
        return str(self.interval)

    @property
    def interval(self) -> Interval:
        """The figure with its bounds."""
        return Interval(self.estimate, self.low, self.high, self.confidence, self.n, self.effective)

    def to_json(self) -> dict[str, Any]:
        """Return JSON data."""
        return asdict(self)


def conclude(found: Interval, asked: Range, stalled: float = 0.0) -> Conclusion:
    """Compare an interval with a range: PASS if all of it is inside, FAIL if all of it is outside.

    stalled: the share of the time in which the host was late. It may explain a miss of a positive figure, so that a FAIL
    needs one that is larger than three times this share; a PASS needs no excuse.
    """
    excuse = 1 + STALLS * stalled
    inside_low = asked.low is None or (found.low is not None and found.low >= asked.low)
    inside_high = asked.high is None or (found.high is not None and found.high <= asked.high)
    too_low = asked.low is not None and found.high is not None and found.high * excuse < asked.low
    too_high = asked.high is not None and found.low is not None and found.low > asked.high * excuse
    verdict = PASS if inside_low and inside_high and found.n else FAIL if too_low or too_high else INCONCLUSIVE
    return Conclusion(verdict, asked, **vars(found))


def mean_ratio(ratios: Sequence[float], asked: Range, confidence: float = CONFIDENCE, stalled: float = 0.0) -> Conclusion:
    """Judge paired ratios, alike and independent, by their geometric mean (Student t of the logarithms).

    False alarms: 1 % on either side, exactly so for log-normal noise. Power: with 9 pairs of 5 % noise, 10 % beyond the edge
    is decided in 98 of 100 runs.
    """
    return conclude(intervals.geometric_mean(ratios, confidence), asked, stalled)


def mean_share(shares: Sequence[float], asked: Range, confidence: float = CONFIDENCE, stalled: float = 0.0) -> Conclusion:
    """Judge shares of a whole, alike and independent, by their arithmetic mean (Student t); 0 is a share, too.

    False alarms: 1 % on either side, exactly so for normal noise. Power: 4 shares of 10 % noise at half the edge are
    decided in 98 of 100 runs.
    """
    return conclude(intervals.mean(shares, confidence), asked, stalled)


def median_ratio(ratios: Sequence[float], asked: Range, confidence: float = CONFIDENCE) -> Conclusion:
    """Judge paired ratios by their median: a sign test, for which the noise may have any distribution.

    False alarms: at most 1 % on either side. Power: with 20 pairs of 5 % noise, 10 % beyond the edge is decided in 98 of 100
    runs. Fewer than 7 pairs decide nothing at 99 %.
    """
    return conclude(intervals.median(ratios, confidence), asked)


def ratio_of_medians(
    above: Sequence[float], below: Sequence[float], asked: Range, confidence: float = CONFIDENCE
) -> Conclusion:
    """Judge two samples that are not paired by the ratio of their medians, for which the noise may have any distribution.

    False alarms: at most 1 % on either side. Power: with 8 values each of 5 % noise, 30 % beyond the edge is decided in 98
    of 100 runs. Fewer than 8 values decide nothing at 99 %.
    """
    return conclude(intervals.ratio_of_medians(above, below, confidence), asked)


def trend(
    points: Sequence[tuple[float, float]], span: float, asked: Range, confidence: float = CONFIDENCE, stalled: float = 0.0
) -> Conclusion:
    """Judge by what factor positive values grow over `span`, from points (place, value); ValueError with fewer than three.

    False alarms: 1 % on either side, exactly so for log-normal noise. Power: 9 rates of 3 % noise that do not decline are
    found to keep 0.8 of themselves in 99 of 100 runs.
    """
    return conclude(intervals.growth(points, span, confidence), asked, stalled)


def latency_within(latency_ns: Ints, budget_ns: int, percent: float = 99.0, confidence: float = CONFIDENCE) -> Conclusion:
    """Judge whether `percent` of the requests take at most `budget_ns`; int64 [n] in the order of the schedule.

    The figure is the share over the budget. MLPerf's early stopping bounds it by Clopper and Pearson as if requests were
    independent. In a queue they are not: one slow batch makes many slow requests. The same bound on the effective number
    of requests holds. ValueError without any request.

    False alarms: about 1 % on either side (5 % were never seen, however long a queue remembers). Power: of 50,000 requests,
    0.4 % over the budget PASS a p99 and 2.5 % FAIL it, with a memory as long as 10 requests, in 99 of 100 runs.
    """
    late = latency_ns > budget_ns
    typical_ns = nearest_rank(latency_ns, percent)
    tau = max(integrated_time(late), integrated_time(latency_ns > typical_ns))
    allowed = round(1 - percent / 100, 12)  # so that a report says 0.01
    return conclude(intervals.share(int(late.sum()), len(latency_ns), tau, confidence), at_most(allowed))


def agrees(values: Sequence[float], expected: float, confidence: float, tolerance: float = 0.0) -> Conclusion:
    """Judge whether the mean of independent, normal values refutes what is expected of it. Here PASS means that it does not.

    tolerance: what rounding may explain. False alarms: a true expectation fails with 2 (1 - confidence). Power: one that is
    off by 10 standard errors fails in 98 of 100 runs of 20 values, at a confidence of 1 - 5e-6. Fewer than two values
    refute nothing, and confirm nothing: INCONCLUSIVE.
    """
    found, asked = intervals.mean(values, confidence), within(expected - tolerance, expected + tolerance)
    if found.low is None or found.high is None:
        return Conclusion(INCONCLUSIVE, asked, **vars(found))
    meets = found.low <= expected + tolerance and found.high >= expected - tolerance
    return Conclusion(PASS if meets else FAIL, asked, **vars(found))


def figure(value: float | None, asked: Range, stalled: float = 0.0) -> Conclusion:
    """Judge a figure that is taken as it is; None: INCONCLUSIVE.

    It is for counts, and for figures whose noise the range allows for. Whether to trust the figure is up to the caller.
    """
    return conclude(intervals.nothing() if value is None else intervals.exact(value), asked, stalled)


def duration_within(took_ns: int, allowed_ns: int, stall_ns: int) -> Conclusion:
    """Judge one duration that the host may have lengthened. stall_ns: the host's worst stall meanwhile.

    A stall can make a duration longer and never shorter. So one that is within what is allowed is a PASS whatever the host
    did, and a FAIL needs one that is beyond it by more than three times the stall. False alarms: none in 764 correct runs
    on two cores shared with four busy processes.
    """
    return conclude(Interval(took_ns, took_ns - STALLS * stall_ns, took_ns, 1.0, 1, 1.0), at_most(allowed_ns))


def each_of(confidence: float, looks: int) -> float:
    """Return the confidence of each look at growing data, so that all of them together have this confidence (Bonferroni)."""
    return 1 - (1 - confidence) / looks


def withheld(found: Conclusion) -> Conclusion:
    """Return the conclusion without a FAIL: for data in which something else may have caused one, but never a PASS."""
    return Conclusion(INCONCLUSIVE, found.asked, **vars(found.interval)) if found.verdict == FAIL else found


def worst(answers: Iterable[str]) -> str:
    """Return the worst of some answers. "" (nothing was judged) is the best; it is also the worst of no answers."""
    return max(answers, key=("", PASS, INCONCLUSIVE, FAIL).index, default="")
