"""A target against its oracle: `batchproof lab oracle --target reference` prints the table.

The witness takes a known time, 20 ms + 2 ms a row where nothing else is asked for: long enough that a host which is late by
a millisecond now and then moves a result by little. Three steps for each configuration:

1. Lone requests and a saturated closed loop say what the target adds. The overrun keeps the instance busy: it is what a full
   batch takes beyond its curve, and less for a smaller batch, in proportion to its rows. The overhead does not: it is the
   rest of what a lone request takes. The closed loop is judged against the bare curve, so that an overrun which costs more
   than the margin is a finding and is not hidden in a calibration.
2. Poisson arrivals at 0.3, 0.6, 0.8 and 0.9 of what the target can serve then.
3. The very same arrivals are played to the simulator, and the two are compared.

An INVALID run is repeated up to four times.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np

from batchproof.bench.oracle.curve import Curve
from batchproof.bench.oracle.prediction import (
    Assessment,
    assess,
    margin_of,
    overhead,
    overrun,
    predict,
    predict_closed,
)
from batchproof.host.clock import Clock
from batchproof.load.runs import Run, closed_loop, open_loop, until_valid
from batchproof.load.schedule import Schedule, constant, poisson
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.reports.wording import line
from batchproof.stats.gates import PASS
from batchproof.targets import resolve
from batchproof.targets.lifecycle import finish
from batchproof.targets.protocol import Request, Target
from batchproof.targets.verbs import full
from batchproof.targets.witness.probe import Payload

MS = 1_000_000
BASE_NS, ROW_NS, SIZE = 20 * MS, 2 * MS, 8
DELAY_SHARES = (0.0, 0.5)  # of base_ns: none, and one that matters
LOADS = (0.3, 0.6, 0.8, 0.9)
LONE = 20
ATTEMPTS = 5
WAIT_NS = 30_000 * MS
Submit = Callable[[int], "Future[Any]"]


@dataclass(frozen=True)
class Validated:
    """One run and its prediction. load: as requested. overrun_ns, overhead_ns: what the target adds, see above."""

    delay_ns: int
    load: str
    overrun_ns: int
    overhead_ns: int
    assessment: Assessment


def validated(
    target: Target, *, base_ns: int = BASE_NS, row_ns: int = ROW_NS, seconds: float = 20.0, seed: int = 1729
) -> Iterator[Validated]:
    """Yield one comparison for each run. base_ns + b * row_ns: what a batch of b rows takes.

    TargetError and Unsupported as `Target.deploy`.
    """
    curve, margin = Curve.affine(base_ns, row_ns, range(1, SIZE + 1)), margin_of(target.info.name)
    for delay_ns in (round(share * base_ns) for share in DELAY_SHARES):
        config = BatcherConfig(max_batch_size=SIZE, max_queue_delay_ns=delay_ns)
        deployment = full(target).deploy(config)
        clock = deployment.clock
        serials = itertools.count(1)

        def submit(_number: int, deployment: Any = deployment, serials: Any = serials) -> Future[Any]:
            ask = Request("load", next(serials), Payload(work_ns=base_ns, row_work_ns=row_ns))
            return deployment.submit(ask)  # type: ignore[no-any-return]

        try:
            lone = _open(submit, clock, constant(1e9 / (5 * curve.at(SIZE) + delay_ns), _lone_s(curve, delay_ns)))
            closed = _closed(submit, clock, seconds)
            bare = predict_closed(config, curve, 2 * SIZE, max(closed.samples.count, 2 * SIZE))
            overrun_ns = overrun(config, closed.throughput, bare.throughput)
            lone_ns = float(np.median(lone.samples.latency_ns)) - curve.at(1) - delay_ns
            overhead_ns = overhead(config, lone_ns, overrun_ns)
            yield Validated(delay_ns, f"{2 * SIZE} clients", overrun_ns, overhead_ns, assess(bare, closed, margin))
            served = SIZE / (curve.at(SIZE) + overrun_ns) * 1e9
            for load in LOADS:
                rate = load * served
                schedule = poisson(rate, int(rate * seconds) / rate, seed, exact=True)  # no request over the load
                run = _open(submit, clock, schedule)
                predicted = predict(
                    config,
                    curve,
                    schedule.due_ns,
                    overrun_ns=overrun_ns,
                    overhead_ns=overhead_ns,
                    end_ns=schedule.end_ns,
                )
                found = trusted(assess(predicted, run, margin), lone, closed)
                yield Validated(delay_ns, f"load {load}", overrun_ns, overhead_ns, found)
        finally:
            finish(deployment)


def _lone_s(curve: Curve, delay_ns: int) -> float:
    return LONE * (5 * curve.at(SIZE) + delay_ns) / 1e9


def _open(submit: Submit, clock: Clock, schedule: Schedule) -> Run:
    return until_valid(lambda: open_loop(submit, clock, schedule, wait_ns=WAIT_NS), ATTEMPTS)


def _closed(submit: Submit, clock: Clock, seconds: float) -> Run:
    return until_valid(lambda: closed_loop(submit, clock, 2 * SIZE, wait_ns=WAIT_NS, seconds=seconds), ATTEMPTS)


def trusted(found: Assessment, *calibrations: Run) -> Assessment:
    """Return the assessment; INCONCLUSIVE if a run that it was calibrated by is invalid."""
    if all(run.valid for run in calibrations):
        return found
    return found.withheld("the runs that calibrate it are invalid")


def print_table(
    word: str = "reference",
    *,
    base_ms: float = BASE_NS / MS,
    row_ms: float = ROW_NS / MS,
    seconds: float = 20.0,
    seed: int = 1729,
) -> set[str]:
    """Print the table as Markdown; return the verdicts that occurred.

    word: names the target, as for `--target`. base_ms, row_ms: what a batch takes, and each row in it. seconds: of each run.
    TargetError and Unsupported as `resolve` and `Target.deploy`.
    """
    target = resolve(word)
    verdicts: set[str] = set()
    notes: list[str] = []
    info = target.info
    base_ns, row_ns = round(base_ms * MS), round(row_ms * MS)
    print(f"{line(info.name)} {line(info.version)}: {base_ms:g} ms + {row_ms:g} ms a row, max batch {SIZE}, seed {seed}")
    print("\n| delay ms | load | overrun us | overhead us | throughput | mean | p50 | p99 | verdict |")
    print("|" + "---|" * 9, flush=True)
    try:
        for one in validated(target, base_ns=base_ns, row_ns=row_ns, seconds=seconds, seed=seed):
            found = one.assessment
            ratios = " | ".join("-" if ratio is None else f"{ratio:.3f}" for ratio in found.ratios.values())
            added = f"{one.overrun_ns / 1e3:.0f} | {one.overhead_ns / 1e3:.0f}"
            print(f"| {one.delay_ns / MS:g} | {one.load} | {added} | {ratios} | {found.verdict} |", flush=True)
            verdicts.add(found.verdict)
            if found.verdict != PASS:
                notes.append(f"{one.load}, {one.delay_ns / MS:g} ms: {found.finding or found.why}")
    finally:
        target.close()
    print("\nratios: measured over simulated, on the same arrivals")
    print("\n".join(notes))
    return verdicts
