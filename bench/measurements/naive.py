"""Naive against dynamic: one request at a time and a saturating crowd, in turn, on one deployment.

Slices are paired (ABBA, so that drift cancels), and the median of the pairs' ratios is judged (`gates.median_ratio`).
Nothing is assumed about the noise except that pairs are alike and independent. A model that cannot gain, by its own curve,
is not judged, and the report says so. One request at a time counts for at least what its fastest execution allows: a crowd
keeps the instance busy while answers travel, which is not a merit of batching.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from batchproof.bench.calibration import Calibrate
from batchproof.bench.each_work import measured, summed_up
from batchproof.bench.measurement import Bench
from batchproof.bench.oracle.curve import Curve
from batchproof.bench.result import Result
from batchproof.load.runs import Run, closed_loop
from batchproof.load.workload import Served, Work
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.stats import gates
from batchproof.stats.gates import INCONCLUSIVE, PASS, Conclusion, at_least

GATE = 1.05
ASKED = at_least(GATE)
MAX_BATCH = 32
PAIRS = (20, 8)  # full, quick; more, up to MOST, while the gate is inconclusive
MOST = 40
SLICE_S = (1.0, 0.3)

Pair = tuple[Run, Run]  # one request at a time, and the crowd


@dataclass(frozen=True)
class Naive:
    """One request at a time against dynamic batching, on one work.

    conclusion: on dynamic over naive. naive_per_s, dynamic_per_s: requests/s, in each pair. ceiling: how many times
    batching can beat one request at a time, by the curve; limit_per_s: the most that the curve allows; alone_per_s: what one
    request at a time could have without any overhead. reasons: why too few pairs are valid; empty if enough are.
    """

    conclusion: Conclusion
    naive_per_s: tuple[float, ...]
    dynamic_per_s: tuple[float, ...]
    max_batch_size: int
    ceiling: float
    limit_per_s: float
    alone_per_s: float
    reasons: tuple[str, ...] = ()

    @property
    def valid(self) -> bool:
        """Stalls cannot cause a PASS, so that one stands even where too few pairs are valid."""
        return not self.reasons or self.conclusion.verdict == PASS

    @property
    def gains(self) -> bool:
        """The model can gain enough from batching to be judged."""
        return self.ceiling >= GATE

    @property
    def verdict(self) -> str:
        """The gate's; "" for a model that cannot gain."""
        return self.conclusion.verdict if self.gains else ""

    @property
    def medians_per_s(self) -> tuple[float, float] | None:
        """Naive and dynamic requests/s; None if too few pairs are valid."""
        return None if self.reasons else (statistics.median(self.naive_per_s), statistics.median(self.dynamic_per_s))

    @property
    def says(self) -> str:
        """Its part of the headline."""
        ratio = self.conclusion.estimate
        if not self.gains:
            return f"cannot gain from batching (ceiling {self.ceiling:.2f}x): not judged; measured {ratio:.2f}x"
        most = f"at most {self.ceiling:.2f}x is possible"
        if self.medians_per_s is None:
            least = f"at least {self.conclusion.low:.2f}x" if self.conclusion.verdict == PASS else "inconclusive"
            return f"{least}: the host stalled; {most}"
        naive, dynamic = self.medians_per_s
        return f"{ratio:.2f}x ({dynamic:,.0f} against {naive:,.0f}/s; {most})"

    def facts(self) -> dict[str, Any]:
        """Return JSON data. What invalid pairs gave stands under "discarded" and nowhere else."""
        facts: dict[str, Any] = {
            "valid": self.valid,
            "verdict": self.verdict,
            "reasons": list(self.reasons),
            "says": self.says,
            "max_batch_size": self.max_batch_size,
            "clients": 2 * self.max_batch_size,
            "gate": GATE,
            "ceiling": self.ceiling,
            "limit_per_s": self.limit_per_s,
            "alone_per_s": self.alone_per_s,
            "pairs": self.conclusion.n,
            "ratio_low": self.conclusion.low,
            "ratio_high": None if self.reasons else self.conclusion.high,
        }
        if self.medians_per_s is None:
            return facts | {"discarded": {"naive_per_s": list(self.naive_per_s), "dynamic_per_s": list(self.dynamic_per_s)}}
        naive, dynamic = self.medians_per_s
        measured = {"naive_per_s": naive, "dynamic_per_s": dynamic, "ratio": self.conclusion.estimate}
        return facts | measured | {"share_of_limit": dynamic / self.limit_per_s}


def measure(bench: Bench, calibrate: Calibrate) -> Result:
    """Compare on each work."""
    return summed_up(measured(bench.works, partial(of_work, bench, calibrate)))


def of_work(bench: Bench, calibrate: Calibrate, work: Work) -> Naive:
    """Compute the ceiling from the curve, then measure: naive, dynamic, dynamic, naive, and so on."""
    calibration = calibrate(work)
    return compared(bench, work, calibration.curve, 1e9 / calibration.fastest_ns)


def compared(bench: Bench, work: Work, curve: Curve, alone: float, device: str = "") -> Naive:
    """Measure with a known curve. alone: requests/s of one at a time without any overhead. device: for a torch model."""
    config = bench.fitted(BatcherConfig(max_batch_size=min(MAX_BATCH, curve.sizes[-1])))
    top = config.max_batch_size
    name = f"{work.name}-{device}" if device else work.name
    with bench.serve(work, config, **({"device": device} if device else {})) as served:
        pairs, reasons = paired(bench, name, lambda clients: _slice(bench, served, clients), 2 * top, alone)
    for run, word in zip(pairs[0], ("naive", "dynamic"), strict=True):
        bench.record.samples(f"naive-{name}-{word}", run.samples)
    conclusion = judged(pairs, alone)
    return Naive(
        gates.withheld(conclusion) if reasons else conclusion,  # stalls can cause a FAIL; they cannot cause a PASS
        tuple(naive.throughput for naive, _ in pairs),
        tuple(dynamic.throughput for _, dynamic in pairs),
        top,
        curve.ceiling(top),
        curve.max_throughput(top),
        alone,
        reasons,
    )


def judged(pairs: Sequence[Pair], alone: float) -> Conclusion:
    """Judge pairs of a naive and a dynamic run; alone: requests/s of one at a time without any overhead."""
    return gates.median_ratio([_ratio(pair, alone) for pair in pairs], ASKED)


def paired(
    bench: Bench, name: str, slice_of: Callable[[int], Run], clients: int, alone: float
) -> tuple[list[Pair], tuple[str, ...]]:
    """Measure until the gate is decided or there are MOST pairs; an invalid pair is discarded and measured again.

    slice_of: a run with so many clients. clients: of the crowd. Return the valid pairs. If they are too few for the test,
    return all pairs, and the reasons. Stalls cannot cause a PASS then, because the ratio is taken to what the model would do
    alone without any stall; but they can cause a FAIL.
    """
    slice_of(clients)  # the warm-up
    pairs: list[Pair] = []
    discarded: list[Pair] = []
    planned = PAIRS[int(bench.quick)]
    while len(pairs) < planned and len(discarded) < PAIRS[int(bench.quick)]:
        bench.say(f"{name}: pair {len(pairs) + 1} of {planned}")
        pair = _pair(slice_of, clients, naive_first=(len(pairs) + len(discarded)) % 2 == 0)
        (pairs if all(run.valid for run in pair) else discarded).append(pair)
        bench.check_alive()
        if len(pairs) == planned < MOST and judged(pairs, alone).verdict == INCONCLUSIVE:
            planned = min(2 * planned, MOST)
    if judged(pairs, alone).low is not None:
        return pairs, ()
    reasons = [reason for pair in discarded for run in pair for reason in run.validity.reasons]
    return pairs + discarded, (f"{len(discarded)} of {len(pairs) + len(discarded)} pairs: {reasons[0]}, ...",)


def _pair(slice_of: Callable[[int], Run], clients: int, *, naive_first: bool) -> Pair:
    if naive_first:
        naive = slice_of(1)
        return naive, slice_of(clients)
    dynamic = slice_of(clients)
    return slice_of(1), dynamic


def _slice(bench: Bench, served: Served, clients: int) -> Run:
    seconds = SLICE_S[int(bench.quick)]
    return closed_loop(
        served.submit, served.clock, clients, wait_ns=bench.wait_ns, seconds=seconds, compute_threads=served.threads
    )


def _ratio(pair: Pair, alone: float) -> float:
    """Dynamic over naive, which counts for at least what the model allows: a crowd hides the travelling time too."""
    naive, dynamic = pair
    return dynamic.throughput / max(naive.throughput, alone)
