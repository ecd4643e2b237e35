"""Naive against dynamic: one request at a time and a saturating crowd, in turn, on one deployment.

The gate is 1.05 and the test is a sign test: slices are paired (ABBA, so that drift cancels), and the bounds are order
statistics of the pairs' ratios, so that nothing is assumed of the noise but that pairs are alike and independent. With
n pairs, the k-th smallest ratio is above the true median ratio with a chance of P(Bin(n, 1/2) < k); k is the largest
that keeps it below 1 %. A model that cannot gain, by its own curve, is told so and is not judged. One request at a time
counts for at least what its fastest execution allows: a crowd keeps the instance busy while answers travel, and that is
no merit of batching.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from batchproof.bench.each_work import Works, each_work
from batchproof.bench.measurement import Bench, Result
from batchproof.load.runs import Run, closed_loop
from batchproof.load.workload import Served, Work
from batchproof.reference_batcher.config import BatcherConfig

GATE = 1.05
MAX_BATCH = 32
FALSE_ALARM = 0.01  # of a PASS or a FAIL where the true ratio is the gate
PAIRS = (20, 8)  # full, quick; more, up to MOST, while nothing is decided
MOST = 40
SLICE_S = (1.0, 0.3)


@dataclass(frozen=True)
class Gate:
    """What the pairs say. ratio: their median; low, high: its one-sided bounds, None with fewer than 7 pairs."""

    verdict: str
    ratio: float
    low: float | None
    high: float | None
    pairs: int


def gate(ratios: Sequence[float], least: float = GATE) -> Gate:
    """Judge pairs' ratios against the gate: PASS, FAIL or UNDECIDED, each wrong in at most 1 % of runs."""
    ordered, count = sorted(ratios), len(ratios)
    middle = statistics.median(ordered)
    rank = _rank(count)
    if not rank:
        return Gate("UNDECIDED", middle, None, None, count)
    low, high = ordered[rank - 1], ordered[count - rank]
    verdict = "PASS" if low >= least else "FAIL" if high < least else "UNDECIDED"
    return Gate(verdict, middle, low, high, count)


def _rank(count: int) -> int:
    """The largest k with P(Bin(count, 1/2) < k) <= 1 %; 0: there is none."""
    total, rank = 0, 0
    while (total := total + math.comb(count, rank)) <= FALSE_ALARM * 2**count:
        rank += 1
    return rank


def measure(bench: Bench) -> Result:
    """Compare on each work."""
    return each_work(bench, of_work, lambda works: [_table(works)])


def of_work(bench: Bench, work: Work) -> Result:
    """Compute the ceiling from the curve, then measure: naive, dynamic, dynamic, naive, and so on."""
    curve = bench.curve(work)
    top = min(MAX_BATCH, curve.sizes[-1])
    ceiling, limit = curve.ceiling(top), curve.limit(top)
    alone = 1e9 / bench.fastest_ns[work.name]
    with bench.serve(work, BatcherConfig(max_batch_size=top)) as served:
        pairs, reasons = _pairs(bench, served, 2 * top, alone)
    result = gate([_ratio(pair, alone) for pair in pairs])
    verdict = result.verdict if not reasons or result.verdict == "PASS" else "UNDECIDED"
    sides = [[pair[side].throughput for pair in pairs] for side in (0, 1)]
    naive, dynamic = map(statistics.median, sides)
    for run, word in zip(pairs[0], ("naive", "dynamic"), strict=True):
        bench.record.samples(f"naive-{work.name}-{word}", run.samples)
    gains, measured = ceiling >= GATE, {}
    if not reasons:
        measured = {"naive_per_s": naive, "dynamic_per_s": dynamic, "ratio": result.ratio, "share_of_limit": dynamic / limit}
    return {
        "valid": not reasons or result.verdict == "PASS",
        "verdict": verdict if gains else "",
        "reasons": reasons,
        "says": _says(result, naive, dynamic, ceiling, stalled=bool(reasons)),
        "max_batch_size": top,
        "clients": 2 * top,
        "gate": GATE,
        "ceiling": ceiling,
        "limit_per_s": limit,
        "alone_per_s": alone,
        "pairs": result.pairs,
        "ratio_low": result.low,
        "ratio_high": None if reasons else result.high,
        **(measured or {"discarded": {"naive_per_s": sides[0], "dynamic_per_s": sides[1]}}),
    }


def _says(result: Gate, naive: float, dynamic: float, ceiling: float, *, stalled: bool) -> str:
    if ceiling < GATE:
        return f"cannot gain from batching (ceiling {ceiling:.2f}x): not judged; measured {result.ratio:.2f}x"
    if stalled:
        least = f"at least {result.low:.2f}x" if result.verdict == "PASS" else "undecided"
        return f"{least}: the host stalled; at most {ceiling:.2f}x can be had"
    return f"{result.ratio:.2f}x ({dynamic:,.0f} against {naive:,.0f}/s; at most {ceiling:.2f}x can be had)"


def _pairs(bench: Bench, served: Served, clients: int, alone: float) -> tuple[list[tuple[Run, Run]], list[str]]:
    """Measure until the gate is decided or MOST pairs are there; an invalid pair is discarded and made again.

    Return the valid pairs. Where too few are valid for the test: all of them, and the reasons. Stalls then can be no cause
    of a PASS, as what is compared with is at least what the model would do alone without any; a FAIL they can cause.
    """
    _slice(bench, served, clients)  # the warm-up
    pairs: list[tuple[Run, Run]] = []
    discarded: list[tuple[Run, Run]] = []
    planned = PAIRS[int(bench.quick)]
    while len(pairs) < planned and len(discarded) < PAIRS[int(bench.quick)]:
        bench.say(f"{served.work.name}: pair {len(pairs) + 1} of {planned}")
        pair = _pair(bench, served, clients, naive_first=(len(pairs) + len(discarded)) % 2 == 0)
        (pairs if all(run.valid for run in pair) else discarded).append(pair)
        bench.check_alive()
        if len(pairs) == planned < MOST and gate([_ratio(pair, alone) for pair in pairs]).verdict == "UNDECIDED":
            planned = min(2 * planned, MOST)
    if _rank(len(pairs)):
        return pairs, []
    reasons = [reason for pair in discarded for run in pair for reason in run.validity.reasons]
    return pairs + discarded, [f"{len(discarded)} of {len(pairs) + len(discarded)} pairs: {reasons[0]}, ..."]


def _pair(bench: Bench, served: Served, clients: int, *, naive_first: bool) -> tuple[Run, Run]:
    if naive_first:
        naive = _slice(bench, served, 1)
        return naive, _slice(bench, served, clients)
    dynamic = _slice(bench, served, clients)
    return _slice(bench, served, 1), dynamic


def _slice(bench: Bench, served: Served, clients: int) -> Run:
    seconds = SLICE_S[int(bench.quick)]
    return closed_loop(
        served.submit, served.clock, clients, wait_ns=bench.wait_ns, seconds=seconds, compute_threads=served.threads
    )


def _ratio(pair: tuple[Run, Run], alone: float) -> float:
    """Dynamic over naive, which counts for at least what the model allows: a crowd hides the way there and back too."""
    naive, dynamic = pair
    return dynamic.throughput / max(naive.throughput, alone)


def _table(works: Works) -> dict[str, Any]:
    heads = ["work", "naive/s", "dynamic/s", "ratio", "from", "to", "ceiling", "share of the limit", "pairs", "verdict"]
    keys = ("naive_per_s", "dynamic_per_s", "ratio", "ratio_low", "ratio_high", "ceiling", "share_of_limit", "pairs")
    rows = [[name, *(one.get(key) for key in keys), one["verdict"] or "not judged"] for name, one in works.items()]
    return {
        "title": "One request at a time against dynamic batching",
        "heads": heads,
        "rows": rows,
        "note": f"Gate {GATE}: one-sided 99 % bounds of the median ratio of interleaved pairs (sign test).",
    }
