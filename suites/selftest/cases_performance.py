"""Cases of the rules about speed: hand-written slices of load, as a batcher on a quiet or a noisy host would leave them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from batchproof.fixtures.evidence import Difference
from batchproof.fixtures.verdicts import Verdict
from batchproof.suites.selftest.timelines import ERROR, FAIL, INCONCLUSIVE, PASS, Cases, part, trial

if TYPE_CHECKING:
    from collections.abc import Sequence

    from batchproof.fixtures.trial import Slice, Trial

MS = 1_000_000
SIZES = 1, 4, 8
NOT_OBSERVABLE = Verdict.NOT_OBSERVABLE
LATE = {"invalid": "the host stalled"}
STALLED = {"stalled_ns": 200 * MS}  # of a slice of one second


def naive(*rates: float, **broken: Any) -> Trial:
    """Naive slices; `broken` changes the first."""
    return trial(*((part("naive", qps, **(broken if place == 0 else {})),) for place, qps in enumerate(rates)))


def pairs(alone: Sequence[float], batched: Sequence[float], full: float = 0, **more: Any) -> Trial:
    """One client and many, in turn; full: ms that a lone batch of 8 rows takes (0: none). More: of the last round."""
    last = len(alone) - 1
    return trial(*(round_(one, many, full, **(more if place == last else {}))
                   for place, (one, many) in enumerate(zip(alone, batched, strict=True))))


def round_(one: float, many: float, full: float, **more: Any) -> tuple[Slice, ...]:
    """A round of what five rules look at; rates of one client and of many."""
    lone = (part("full", 100, full, rows=8),) if full else ()
    return (part("naive", one, 1000 / one if one else 0), *lone, part("batched", many, 8 if many else 0, **more))


def sizes(small: Sequence[float], middle: Sequence[float], large: Sequence[float], **more: Any) -> Trial:
    """Rates of three values of max_batch_size, in turn."""
    rounds = zip(small, middle, large, strict=True)
    return trial(*(tuple(part(f"size {size}", qps, 8 if qps else 0, **more) for size, qps in zip(SIZES, rates, strict=True))
                   for rates in rounds))


def run(*rates: float, **more: Any) -> Trial:
    """Saturated slices with these rates; `more` changes every second one."""
    return trial(*((part("batched", qps, **(more if place % 2 else {})),) for place, qps in enumerate(rates)))


def served(*counts: int, **more: Any) -> Trial:
    """Saturated slices in which the clients were served so often."""
    return trial(*((part("batched", served=counts, **more),) for _ in range(5)))


def lone(single: float, without: Sequence[float], with_: float, **more: Any) -> Trial:
    """Latencies of lone requests in ms: with max_batch_size 1, without a delay, and with one of 20 ms."""
    return trial(*((part("single", ms=single, **more), part("no delay", ms=ms, **more),
                    part("delay", ms=with_, predicted_ns=20 * MS, **more)) for ms in without))


def arrivals(*means: float, told: float = 10, **more: Any) -> Trial:
    """Mean latencies in ms of arrivals that take `told` ms in the simulation."""
    return trial(*((part("one", ms=8), part("full", ms=12, rows=8),
                    part("arrivals", ms=ms, predicted_ns=round(told * MS), **more)) for ms in means))


def spikes(
    qps: float = 600, told: float = 1, after: float = 9, full: int = 600, rounds: int = 5, **more: Any
) -> Trial:
    """Spikes on a batcher that can take 667 rows a second, 50 ms an answer; told: ms that a refusal takes."""
    spike = {"requests": round(qps) + full, "full": full, "told_ns": round(told * MS), **more}
    one = part("full", ms=12, rows=8), part("before", ms=9), part("spike", qps, 50, **spike), part("after", ms=after)
    return trial(*[one] * rounds)


def beside(*during: float, **more: Any) -> Trial:
    """Medians in ms while the model next door has a spike; 9 ms before."""
    return trial(*((part("before", ms=9, **more), part("during", ms=ms, **more)) for ms in during))


CASES: Cases = [
    ("PERF-SANITY-001", "sane", PASS, "200.0/s", naive(200, 200, 200)),
    ("PERF-SANITY-001", "errors", FAIL, "3 errors", naive(200, 200, errors=3)),
    ("PERF-SANITY-001", "no answer", FAIL, "0.0/s", naive(0, 200)),
    ("PERF-SANITY-001", "no time", FAIL, "p50 0 ns", naive(200, p50_ns=0)),
    ("PERF-SANITY-001", "slow", FAIL, "p50 10000000000 ns", naive(200, p50_ns=10**10, p99_ns=10**10)),
    ("PERF-SANITY-001", "upside down", FAIL, "p99 4000000 ns", naive(200, p99_ns=4 * MS)),
    ("PERF-SANITY-001", "nothing", ERROR, "VACUOUS", naive()),
    ("PERF-SPEEDUP-001", "pays", PASS, "4.00 (interval 4.00 to 4.00) on a model", pairs([100] * 6, [400] * 6)),
    ("PERF-SPEEDUP-001", "equal", FAIL, "1.00 (interval 1.00 to 1.00) on a model", pairs([100] * 6, [100] * 6)),
    ("PERF-SPEEDUP-001", "equal, could gain", FAIL, "1.00 (interval", pairs([100] * 6, [100] * 6, full=12)),
    ("PERF-SPEEDUP-001", "noisy", INCONCLUSIVE, "2.00 (interval ", pairs([100] * 6, [100, 400] * 3)),
    ("PERF-SPEEDUP-001", "equal on a host that stalled", INCONCLUSIVE, "1.00 (interval", trial(
        *((part("naive", 100), part("batched", 100, **STALLED)) for _ in range(6)))),
    ("PERF-SPEEDUP-001", "invalid", INCONCLUSIVE, "0 of 6 rounds are valid", trial(
        *((part("naive", 100), part("batched", 400, **LATE)) for _ in range(6)))),
    ("PERF-SPEEDUP-001", "dead slice", FAIL, "not a single answer: 'batched'", pairs([100] * 6, [400] * 5 + [0])),
    ("PERF-SPEEDUP-001", "lost", FAIL, "7 of 3000 requests without an answer",
     pairs([100] * 6, [400] * 6, errors=7)),
    ("PERF-SPEEDUP-001", "lost when the host stalled for long", INCONCLUSIVE, "7 of 3000",
     pairs([100] * 6, [400] * 6, errors=7, stalled_ns=200 * MS)),
    ("PERF-SPEEDUP-001", "few pairs", ERROR, "VACUOUS: 2 rounds", pairs([100] * 2, [400] * 2)),
    ("PERF-SPEEDUP-001", "nothing to gain", NOT_OBSERVABLE, "ceiling 1.00", pairs([100] * 6, [100] * 6, full=80)),
    ("PERF-MODEL-001", "same", PASS, "1.0e-05", Difference("a model", 1e-5, 1e-4, (1, 8))),
    ("PERF-MODEL-001", "other", FAIL, "1.0e-02", Difference("a model", 1e-2, 1e-4, (1, 8))),
    ("PERF-MODEL-001", "not a number", FAIL, "nan", Difference("a model", float("nan"), 1e-4, (1, 8))),
    ("PERF-MODEL-001", "alone", ERROR, "VACUOUS", Difference("a model", 0.0, 1e-4, (1, 1))),
    ("PERF-LIMIT-001", "reached", PASS, "0.90 (interval", pairs([100] * 6, [600] * 6, full=12)),
    ("PERF-LIMIT-001", "missed", FAIL, "0.75 (interval 0.75 to 0.75) of up to 667", pairs([100] * 6, [500] * 6, full=12)),
    ("PERF-LIMIT-001", "best alone", FAIL, "0.60 (interval 0.60 to 0.60) of up to 100", pairs([100] * 6, [60] * 6, full=90)),
    ("PERF-LIMIT-001", "noisy", INCONCLUSIVE, "(interval", pairs([100] * 6, [640, 400] * 3, full=12)),
    ("PERF-LIMIT-001", "missed on a host that stalled", INCONCLUSIVE, "0.75 (interval", trial(
        *((part("naive", 100, 10), part("full", 100, 12, rows=8), part("batched", 500, **STALLED)) for _ in range(6)))),
    ("PERF-LIMIT-001", "invalid", INCONCLUSIVE, "3 of 6 rounds are valid", trial(
        *((part("naive", 100, 10), part("full", 100, 12, rows=8), part("batched", 600, **more))
          for more in [LATE, {}] * 3))),
    ("PERF-LIMIT-001", "few rounds", ERROR, "VACUOUS: 2 rounds", pairs([100] * 2, [600] * 2, full=12)),
    ("PERF-SWEEP-001", "pays", PASS, "size 8: 6.00 (interval", sizes([100] * 5, [400] * 5, [600] * 5)),
    ("PERF-SWEEP-001", "the middle is best", PASS, "size 4: 4.00 (interval", sizes([100] * 5, [400] * 5, [90] * 5)),
    ("PERF-SWEEP-001", "equal", FAIL, "size 4: 1.05", sizes([100] * 5, [105] * 5, [100] * 5)),
    ("PERF-SWEEP-001", "noisy", INCONCLUSIVE, "size 8: ", sizes([100] * 4, [100] * 4, [100, 200] * 2)),
    ("PERF-SWEEP-001", "invalid", INCONCLUSIVE, "0 of 5 rounds", sizes([100] * 5, [400] * 5, [600] * 5, **LATE)),
    ("PERF-SWEEP-001", "dead", FAIL, "not a single answer: 'size 8'", sizes([100] * 5, [400] * 5, [600] * 4 + [0])),
    ("PERF-SWEEP-001", "two sizes", ERROR, "VACUOUS: 2 sizes", trial((part("size 1"), part("size 8")))),
    ("PERF-STEADY-001", "lasts", PASS, "1.00 (interval", run(*[600] * 9)),
    ("PERF-STEADY-001", "wavers", PASS, "0.9", run(600, 590, 610, 600, 580, 610, 590, 600, 580)),
    ("PERF-STEADY-001", "tires", FAIL, "0.53", run(*(600 * 0.9**place for place in range(9)))),
    ("PERF-STEADY-001", "half of it all at once", FAIL, "0.", run(*[600] * 5, *[200] * 5)),
    ("PERF-STEADY-001", "noisy", INCONCLUSIVE, "(interval", run(*[600, 300] * 5)),
    ("PERF-STEADY-001", "tires as the host does", INCONCLUSIVE, "0.7",
     run(*(600 * 0.95**place for place in range(9)), stalled_ns=600 * MS)),
    ("PERF-STEADY-001", "invalid", INCONCLUSIVE, "3 of 6 rounds", run(*[600] * 6, **LATE)),
    ("PERF-STEADY-001", "lost", FAIL, "20 of 5400 requests", run(*[600] * 9, errors=5)),
    ("PERF-STEADY-001", "short", ERROR, "VACUOUS: 2 rounds", run(600, 600)),
    ("PERF-FAIR-001", "in turn", PASS, "1.00 (50 to 50 answers a client, Jain index 1.00)", served(10, 10, 10, 10)),
    ("PERF-FAIR-001", "nearly", PASS, "0.92", served(10, 9, 10, 10)),
    ("PERF-FAIR-001", "starved", FAIL, "0.14 (5 to 50", served(10, 9, 1, 8)),
    ("PERF-FAIR-001", "never served", FAIL, "0.00 (0 to", served(10, 10, 0, 10)),
    ("PERF-FAIR-001", "starved while the host stalled", INCONCLUSIVE, "0.48", served(10, 10, 4, 9, **STALLED)),
    ("PERF-FAIR-001", "invalid", INCONCLUSIVE, "0 of 5 rounds", served(10, 0, **LATE)),
    ("PERF-FAIR-001", "one client", ERROR, "VACUOUS", served(10)),
    ("PERF-DELAY-001", "as told", PASS, "1.00", lone(9, [9] * 5, 29)),
    ("PERF-DELAY-001", "waits without a delay", FAIL, "1.56 (interval 1.56 to 1.56), no queue delay", lone(9, [14] * 5, 29)),
    ("PERF-DELAY-001", "waits twice as long", FAIL, "3.22 (interval 3.22 to 3.22), less the queue delay of 20.0 ms",
     lone(9, [9] * 5, 49)),
    ("PERF-DELAY-001", "noisy", INCONCLUSIVE, "no queue delay", lone(9, [9, 14] * 3, 29)),
    ("PERF-DELAY-001", "waits on a host that stalled", INCONCLUSIVE, "1.56", lone(9, [14] * 5, 29, **STALLED)),
    ("PERF-DELAY-001", "invalid", INCONCLUSIVE, "0 of 5 rounds", lone(9, [9] * 5, 29, **LATE)),
    ("PERF-ORACLE-001", "as fast", PASS, "1.02", arrivals(10.2, 10.1, 10.3, 10.2, 10.2)),
    ("PERF-ORACLE-001", "faster", PASS, "0.90", arrivals(*[9] * 5)),
    ("PERF-ORACLE-001", "slower", FAIL, "1.30", arrivals(*[13] * 5)),
    ("PERF-ORACLE-001", "noisy", INCONCLUSIVE, "(interval", arrivals(10, 14, 10, 14, 10)),
    ("PERF-ORACLE-001", "slower on a host that stalled", INCONCLUSIVE, "1.30", arrivals(*[13] * 5, **STALLED)),
    ("PERF-ORACLE-001", "invalid", INCONCLUSIVE, "0 of 5 rounds", arrivals(*[13] * 5, **LATE)),
    ("PERF-ORACLE-001", "lost", FAIL, "10 of ", arrivals(*[10] * 5, errors=2)),
    ("PERF-OVERLOAD-001", "survived", PASS, "goodput 0.90", spikes()),
    ("PERF-OVERLOAD-001", "nothing", FAIL, "goodput 0.00", spikes(0)),
    ("PERF-OVERLOAD-001", "too little", FAIL, "goodput 0.60", spikes(400)),
    ("PERF-OVERLOAD-001", "told late", FAIL, "refusals take 0.80", spikes(told=40)),
    ("PERF-OVERLOAD-001", "felt for long", FAIL, "afterwards 2.00", spikes(after=18)),
    ("PERF-OVERLOAD-001", "nobody refused", FAIL, "nobody was refused (answers took 50000000 ns)", spikes(full=0)),
    ("PERF-OVERLOAD-001", "lost", FAIL, "15 of ", spikes(errors=3)),
    ("PERF-OVERLOAD-001", "too little on a host that stalled", INCONCLUSIVE, "goodput 0.75",
     spikes(500, stalled_ns=900 * MS)),
    ("PERF-OVERLOAD-001", "invalid", INCONCLUSIVE, "0 of 5 rounds", spikes(**LATE)),
    ("PERF-OVERLOAD-001", "short", ERROR, "VACUOUS", spikes(rounds=1)),
    ("PERF-ISOLATION-001", "spared", PASS, "1.11", beside(*[10] * 5)),
    ("PERF-ISOLATION-001", "hit", FAIL, "2.00", beside(*[18] * 5)),
    ("PERF-ISOLATION-001", "noisy", INCONCLUSIVE, "(interval", beside(9, 30, 9, 30, 9)),
    ("PERF-ISOLATION-001", "hit on a host that stalled", INCONCLUSIVE, "2.00", beside(*[18] * 5, **STALLED)),
    ("PERF-ISOLATION-001", "invalid", INCONCLUSIVE, "0 of 5 rounds", beside(*[10] * 5, **LATE)),
]
