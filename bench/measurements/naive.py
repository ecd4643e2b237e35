"""Naive against dynamic: one request at a time and a saturating crowd, in turn, on one deployment.

Slices are paired (ABBA, so that drift cancels), and the median of the pairs' ratios is judged (`gates.median_ratio`).
Nothing is assumed about the noise except that pairs are alike and independent. A model that cannot gain, by its own curve,
is not judged, and the report says so. One request at a time counts for at least what its fastest execution allows: a crowd
keeps the instance busy while answers travel, which is not a merit of batching.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from batchproof.bench.each_work import Works, each_work
from batchproof.bench.measurement import Bench, Result
from batchproof.load.runs import Run, closed_loop
from batchproof.load.workload import Served, Work
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.stats import gates
from batchproof.stats.gates import INCONCLUSIVE, PASS, Decision, at_least

GATE = 1.05
MAX_BATCH = 32
ASKED = at_least(GATE)
PAIRS = (20, 8)  # full, quick; more, up to MOST, while the gate is inconclusive
MOST = 40
SLICE_S = (1.0, 0.3)


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
    result = judged(pairs, alone)
    if reasons:  # stalls can cause a FAIL; they cannot cause a PASS
        result = gates.withheld(result)
    sides = [[pair[side].throughput for pair in pairs] for side in (0, 1)]
    naive, dynamic = map(statistics.median, sides)
    for run, word in zip(pairs[0], ("naive", "dynamic"), strict=True):
        bench.record.samples(f"naive-{work.name}-{word}", run.samples)
    gains = ceiling >= GATE
    measured: Result = {}
    if not reasons:
        measured = {"naive_per_s": naive, "dynamic_per_s": dynamic, "ratio": result.estimate}
        measured["share_of_limit"] = dynamic / limit
    return {
        "valid": not reasons or result.verdict == PASS,
        "verdict": result.verdict if gains else "",
        "reasons": reasons,
        "says": _says(result, naive, dynamic, ceiling, stalled=bool(reasons)),
        "max_batch_size": top,
        "clients": 2 * top,
        "gate": GATE,
        "ceiling": ceiling,
        "limit_per_s": limit,
        "alone_per_s": alone,
        "pairs": result.n,
        "ratio_low": result.low,
        "ratio_high": None if reasons else result.high,
        **(measured or {"discarded": {"naive_per_s": sides[0], "dynamic_per_s": sides[1]}}),
    }


def judged(pairs: Sequence[tuple[Run, Run]], alone: float) -> Decision:
    """Judge pairs of a naive and a dynamic run; alone: requests/s of one at a time without any overhead."""
    return gates.median_ratio([_ratio(pair, alone) for pair in pairs], ASKED)


def _says(result: Decision, naive: float, dynamic: float, ceiling: float, *, stalled: bool) -> str:
    if ceiling < GATE:
        return f"cannot gain from batching (ceiling {ceiling:.2f}x): not judged; measured {result.estimate:.2f}x"
    if stalled:
        least = f"at least {result.low:.2f}x" if result.verdict == PASS else "inconclusive"
        return f"{least}: the host stalled; at most {ceiling:.2f}x can be had"
    return f"{result.estimate:.2f}x ({dynamic:,.0f} against {naive:,.0f}/s; at most {ceiling:.2f}x can be had)"


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
        if len(pairs) == planned < MOST and judged(pairs, alone).verdict == INCONCLUSIVE:
            planned = min(2 * planned, MOST)
    if judged(pairs, alone).low is not None:
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
