"""What a run should have given: the very same schedule is played to the simulator, and the two results are compared.

The same arrivals on both sides leave no sampling noise between them, so seconds of load are enough to see a few percent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from batchproof.bench.oracle.curve import Curve
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.reference_batcher.simulator import NEVER, SimulatedRun, simulate, simulate_closed
from batchproof.stats import gates
from batchproof.stats.gates import FAIL, INCONCLUSIVE, at_most
from batchproof.stats.percentile import percentile

if TYPE_CHECKING:
    from batchproof.load.runs import Run
    from batchproof.reference_batcher.simulated_run import Ints

# How much slower than its oracle a target may be. With the overrun of its service times known, the threaded reference took
# 0.9 to 3.0 % longer in the mean than the same schedule in the simulator, at up to 0.9 of its capacity; 5 % leaves some
# room. A server behind a wire also has threads, queues and copies, which the curve of its batches does not show.
MARGINS = {"reference": 0.05, "virtual": 0.05, "triton": 0.15}
MARGIN = 0.15
# Waiting grows with 1 / (1 - load): above this load, a service time that is 1 % off moves the mean by 10 % or more.
HIGHEST_LOAD = 0.9


@dataclass(frozen=True)
class Prediction:
    """A configuration under a load, as simulated.

    kind: "open" or "closed". load: the offered rate as a share of what the instances can serve at most (closed: 1.0).
    throughput: answers/s while load was offered. mean_ns: over what is answered. p50_ns, p99_ns: nearest rank over all
    requests, None if it falls on one without an answer. mean_batch: rows. simulated: every request.
    """

    config: BatcherConfig
    kind: str
    requests: int
    load: float
    throughput: float
    mean_ns: float | None
    p50_ns: int | None
    p99_ns: int | None
    mean_batch: float
    refused: int
    expired: int
    simulated: SimulatedRun = field(repr=False, compare=False)

    def summary(self) -> dict[str, Any]:
        """Return JSON data, without the requests."""
        names = ("kind", "requests", "load", "throughput", "mean_ns", "p50_ns", "p99_ns", "mean_batch", "refused", "expired")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class Assessment:
    """A measured run and its prediction.

    verdict: PASS as predicted; FAIL slower by more than the margin; INCONCLUSIVE, for the reason `why`, where the run cannot
    be compared. It is INCONCLUSIVE too, with a finding, where the run is faster by more than the margin: no target can be,
    so that the curve is wrong. finding: what a person should read, or empty. lost: the share of its capacity or time that
    the target loses. ratios: measured over predicted, for throughput, mean, p50 and p99; None where either side has none.
    """

    verdict: str
    why: str
    finding: str
    lost: float | None
    margin: float
    ratios: Mapping[str, float | None]
    predicted: Mapping[str, Any]
    measured: Mapping[str, float | None]

    def withheld(self, why: str) -> Assessment:
        """Return it without a verdict, for this reason where it does not have one of its own."""
        return replace(self, verdict=INCONCLUSIVE, finding="", why=self.why or why)

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        return vars(self) | {"ratios": dict(self.ratios), "predicted": dict(self.predicted), "measured": dict(self.measured)}


def predict(
    config: BatcherConfig,
    curve: Curve,
    due_ns: Sequence[int] | Ints,
    *,
    overrun_ns: int = 0,
    overhead_ns: int = 0,
    end_ns: int = 0,
    rows: Sequence[int] | None = None,
    priorities: Sequence[int] | None = None,
    timeouts_ns: Sequence[int] | None = None,
) -> Prediction:
    """Play a schedule: due_ns int64 [n], ascending; rows, priorities, timeouts_ns of each request as in `simulate`.

    overrun_ns: what a full batch keeps its instance busy beyond the curve (taking requests in, cutting up the answer), and a
    smaller one in proportion to its rows. overhead_ns: what a request takes beyond its batch and keeps no instance busy (the
    wire, in both directions). end_ns: when load ends (0: with the last request).
    """
    due = np.asarray(due_ns, dtype=np.int64)
    tau_ns = _table(curve, config, overrun_ns)
    played = simulate(config, due, tau_ns, rows=rows, priorities=priorities, timeouts_ns=timeouts_ns)
    length_ns = end_ns or (int(due[-1]) if due.size else 0)
    offered = (sum(rows) if rows is not None else due.size) / length_ns * 1e9 if length_ns else 0.0
    load = offered / Curve(tuple(range(1, len(tau_ns))), tau_ns[1:]).max_throughput(config.max_batch_size, config.instances)
    return _prediction(config, "open", played, load, length_ns, overhead_ns)


def predict_closed(
    config: BatcherConfig,
    curve: Curve,
    clients: int,
    requests: int,
    *,
    overrun_ns: int = 0,
    overhead_ns: int = 0,
    answers_first: bool = False,
) -> Prediction:
    """Play a closed loop of `clients` until `requests` were sent; the rest is as in `predict` and `simulate_closed`.

    overhead_ns adds to the latency and does not slow the clients down, which is true only where there are plenty of clients.
    """
    tau_ns = _table(curve, config, overrun_ns)
    played = simulate_closed(config, clients, requests, tau_ns, answers_first=answers_first)
    over_ns = int(played.due_ns[-1]) if requests > clients else int(played.done_ns[played.answered].max(initial=1))
    return _prediction(config, "closed", played, 1.0, over_ns, overhead_ns)


def overrun(config: BatcherConfig, throughput: float, promised: float) -> int:
    """Return what a full batch took beyond its curve in a saturated run, in ns; not below 0, and 0 if nothing is known.

    throughput: measured, answers/s. promised: predicted for the same closed loop on the bare curve; that prediction is what
    the run itself is judged by. Near the capacity waiting grows with 1 / (1 - load): without this correction, open loops
    would report the same loss again, magnified.
    """
    if not (throughput and promised):
        return 0
    return max(0, round(config.max_batch_size * config.instances * (1 / throughput - 1 / promised) * 1e9))


def overhead(config: BatcherConfig, lone_ns: float, overrun_ns: int) -> int:
    """Return what a lone request takes beyond its batch and its overrun, in ns; it keeps no instance busy."""
    return max(0, round(lone_ns - overrun_ns / config.max_batch_size))


def assess(prediction: Prediction, run: Run, margin: float = MARGIN) -> Assessment:
    """Compare a measured run with its prediction.

    What is judged is the mean latency of an open loop, and the throughput of a closed or overloaded one. The same arrivals
    on both sides leave no sampling noise, so the gate takes the ratio as it is (`gates.figure`), with a margin (`margin_of`)
    for the rest. A run cannot be compared where it is invalid, where its load is between 0.9 and 1, or where requests were
    not answered.
    """
    latency_ns = run.samples.latency_ns
    answered = latency_ns[latency_ns < NEVER]
    measured = {
        "throughput": run.throughput,
        "mean_ns": float(answered.mean()) if answered.size else None,
        "p50_ns": _percentile(latency_ns, 50),
        "p99_ns": _percentile(latency_ns, 99),
    }
    ratios = {name: _ratio(value, getattr(prediction, name)) for name, value in measured.items()}
    saturated = prediction.kind == "closed" or prediction.load > 1
    slowness = _inverse(ratios["throughput"]) if saturated else ratios["mean_ns"]
    why = _no_ground(prediction, run, slowness, answered.size, saturated=saturated)
    low, high = 1 / (1 + margin), 1 + margin
    verdict: str = gates.figure(None if why else slowness, at_most(high)).verdict
    finding = ""
    lost = 1 - 1 / slowness if slowness else None
    if not why and slowness:
        what = "requests per second are" if saturated else "answers take"
        ratio = 1 / slowness if saturated else slowness
        said = f"{what} {ratio:.2f} times what the same load gives in the simulator (allowed: {low:.2f} to {high:.2f})"
        if verdict == FAIL:
            finding = f"loses {lost:.0%} somewhere: {said}"
        elif slowness < low:
            verdict, finding = INCONCLUSIVE, f"faster than its own service times allow, so they are wrong: {said}"
    return Assessment(verdict, why, finding, lost, margin, ratios, prediction.summary(), measured)


def margin_of(target: str) -> float:
    """Return the margin of a target by its name: its own, that of its family (`triton-docker`), or 15 %."""
    return MARGINS.get(target.partition("-")[0].partition(":")[0], MARGIN)


def _prediction(
    config: BatcherConfig, kind: str, played: SimulatedRun, load: float, length_ns: int, overhead_ns: int
) -> Prediction:
    answered = played.answered
    latency_ns = np.where(answered, np.where(answered, played.latency_ns, 0) + overhead_ns, NEVER)
    in_time = np.count_nonzero(answered & (np.where(answered, played.done_ns, 0) + overhead_ns <= length_ns))
    return Prediction(
        config,
        kind,
        played.due_ns.size,
        load,
        float(in_time) * 1e9 / length_ns if length_ns else 0.0,
        float(latency_ns[answered].mean()) if answered.any() else None,
        _percentile(latency_ns, 50),
        _percentile(latency_ns, 99),
        played.mean_batch,
        int(played.refused.sum()),
        int(played.expired.sum()),
        played,
    )


def _table(curve: Curve, config: BatcherConfig, overrun_ns: int) -> tuple[int, ...]:
    table = curve.table(config.max_batch_size)
    return tuple(tau_ns + round(overrun_ns * rows / config.max_batch_size) for rows, tau_ns in enumerate(table))


def _percentile(latency_ns: Ints, percent: float) -> int | None:
    found = percentile(latency_ns, percent) if latency_ns.size else NEVER
    return None if found == NEVER else found


def _ratio(measured: float | None, predicted: float | None) -> float | None:
    return measured / predicted if measured is not None and predicted else None


def _inverse(ratio: float | None) -> float | None:
    return 1 / ratio if ratio else None


def _no_ground(prediction: Prediction, run: Run, slowness: float | None, answered: int, *, saturated: bool) -> str:
    if not run.validity.valid:
        return f"the run is invalid: {'; '.join(run.validity.reasons)}"
    if slowness is None:
        return "nothing was answered"
    if not saturated and round(prediction.load, 6) > HIGHEST_LOAD:
        return f"load {prediction.load:.2f} is so close to the capacity that any error in the curve would decide the verdict"
    expected = prediction.requests - prediction.refused - prediction.expired
    if not saturated and answered < expected:
        return f"{expected - answered} of {expected} requests were not answered, so there is no mean latency"
    return ""
