"""Blocks: short stretches of load on one side, and the figures of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from batchproof.load.runs import Run, closed_loop, open_loop
from batchproof.load.samples import Samples
from batchproof.load.schedule import Schedule, poisson
from batchproof.load.workload import Served
from batchproof.stats.arrays import NEVER
from batchproof.stats.percentile import percentile

WAIT_NS = 30_000_000_000  # how long a target may be silent
# A host that stands still for part of a block slows whichever side it hits, and a coin has chosen which. So a pair is not
# dropped for as little as a run that is reported on its own, but only where the host and not the side makes the figure.
STALLED = 0.5  # of the block
LATE = 1.0  # of the median service time: how late the generator may be at its p99

BURSTS = 3  # times the mean: so far above it no typical batch can be while the host does not stall for half of the block


@dataclass(frozen=True)
class Block:
    """One block. seconds: how long it took. failed: requests without an answer. stalled: the share of the time.

    values: its figures by name: rows_per_s and typical_rows_per_s of a closed loop; p50_ns, p99_ns and mean_ns of an open
    one. why: what makes them invalid, or "". judged: how many requests the acceptor looked at. wrong, shown: the
    first mistake, or "".
    """

    requests: int
    failed: int
    seconds: float
    stalled: float
    values: Mapping[str, float] = field(default_factory=dict)
    why: str = ""
    judged: int = 0
    wrong: str = ""
    shown: str = ""

    def facts(self) -> dict[str, Any]:
        """Return JSON data, without the picture of the mistake."""
        return {name: value for name, value in asdict(self).items() if name != "shown"}


def saturated(served: Served, clients: int, requests: int, rows: int) -> Block:
    """Let this many clients send this many requests. rows: what all instances hold at once."""
    run = closed_loop(served.submit, served.clock, clients, wait_ns=WAIT_NS, requests=requests)
    return _block(run, rates(run.samples, clients, rows))


def paced(served: Served, rate: float, seconds: float, seed: int) -> Block:
    """Send Poisson arrivals at this rate; the same seed gives the same arrivals."""
    return paced_block(open_loop(served.submit, served.clock, arrivals(rate, seconds, seed), wait_ns=WAIT_NS))


def arrivals(rate: float, seconds: float, seed: int) -> Schedule:
    """Return the schedule of a paced block."""
    return poisson(rate, seconds, seed, exact=True)


def paced_block(run: Run) -> Block:
    """Return the block that an open loop was."""
    late = run.samples.latency_ns[run.samples.answered]
    if not len(late):
        return _block(run, {})
    values = {f"p{percent}_ns": float(percentile(late, percent)) for percent in (50, 99)}
    return _block(run, values | {"mean_ns": float(late.mean())})


def rates(samples: Samples, clients: int, rows: int) -> dict[str, float]:
    """Return the rows per second in two ways, both without the first and the last answer of each client; 0: too few answers.

    At the ends of a block batches are not full. rows_per_s: the mean. It counts whole batches, so that it does not matter
    where in a batch it begins. typical_rows_per_s: a full batch over the median time in which so many answers come. A host
    that disturbs fewer than half of the batches does not move it, and neither does a batcher that pauses as rarely. Where
    answers come in bursts of several batches there is no typical batch, and it is the mean.
    """
    done_ns = np.sort(samples.done_ns[samples.answered])[clients - 1 : -clients]
    whole = (len(done_ns) - 1) // rows * rows
    if whole <= 0 or done_ns[whole] == done_ns[0]:
        return {"rows_per_s": 0.0, "typical_rows_per_s": 0.0}
    mean = whole * 1e9 / int(done_ns[whole] - done_ns[0])
    typical = rows * 1e9 / max(1.0, float(np.median(done_ns[rows:] - done_ns[:-rows])))
    return {"rows_per_s": mean, "typical_rows_per_s": typical if typical < BURSTS * mean else mean}


def _block(run: Run, values: Mapping[str, float]) -> Block:
    samples = run.samples
    stalled = run.host.get("stalled_ns", 0) / max(1, run.duration_ns)
    facts = (samples.count, int(np.count_nonzero(~samples.answered)), run.duration_ns / 1e9, round(stalled, 4))
    timed = bool(values) and all(values.values())
    return Block(*facts, values, _why(run, stalled) or ("" if timed else "too few requests were answered to time it"))


def _why(run: Run, stalled: float) -> str:
    """Return what the host did to it that makes it worthless; nothing that the target can do is a reason."""
    if stalled > STALLED:
        return f"the host stalled for {stalled:.0%} of it"
    service_ns = run.samples.service_ns[run.samples.answered]
    if run.kind == "open" and len(service_ns):
        lag_ns, typical_ns = percentile(run.samples.lag_ns, 99), percentile(service_ns, 50)
        if lag_ns > LATE * typical_ns:
            late = "never sent" if lag_ns == NEVER else f"{lag_ns / 1e6:.1f} ms"
            return f"the generator was late: p99 {late}, and the median answer takes {typical_ns / 1e6:.1f} ms"
    return ""
