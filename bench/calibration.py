"""What a bench finds out about a target first: tau(b) of a work, what a lone request adds to it, and the capacity.

Measurements that compare with these figures get them here, and each figure is measured once in a bench.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from batchproof.bench.measurement import Bench
from batchproof.bench.oracle.curve import Curve
from batchproof.bench.service_time import SIZES, WIDE, Timed, service_times
from batchproof.load.runs import Run, closed_loop
from batchproof.load.workload import Served, Unmeasured, Work
from batchproof.reference_batcher.config import BatcherConfig

CAPACITY_ATTEMPTS = 5  # other figures are shares of the capacity


@dataclass(frozen=True)
class Calibration:
    """The service times of a work on a target, and what follows from them. timed: each batch size, ascending from 1."""

    work: Work
    timed: tuple[Timed, ...]

    @cached_property
    def curve(self) -> Curve:
        """tau(b): the median time of each size in the model."""
        return Curve(tuple(one.rows for one in self.timed), tuple(one.tau_ns for one in self.timed))

    @property
    def bounds(self) -> tuple[Curve | None, Curve | None]:
        """The curves with every time at its lower and at its upper bound; None where a size has no such bound."""
        low, high = zip(*(one.interval_ns for one in self.timed), strict=True)
        sizes = tuple(one.rows for one in self.timed)
        return Curve(sizes, low) if all(low) else None, Curve(sizes, high) if all(high) else None

    @property
    def overhead_ns(self) -> int:
        """What a lone batch takes beyond tau(b) until the client has the answer; it keeps no instance busy."""
        return max(0, round(statistics.median(one.seen_ns - one.tau_ns for one in self.timed)))

    @property
    def fastest_ns(self) -> int:
        """The fastest execution of one row that was seen."""
        return max(1, min(self.timed[0].inside_ns))

    @property
    def left_out(self) -> tuple[int, ...]:
        """Sizes that would have taken too long."""
        return tuple(size for size in SIZES if size > self.timed[-1].rows)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is not a result: the sizes whose time is not known well enough."""
        wide = [str(one.rows) for one in self.timed if one.wide]
        return (f"tau of {', '.join(wide)} rows is uncertain by more than {WIDE - 1:.0%}",) if wide else ()

    @property
    def valid(self) -> bool:
        """Whether every time is known well enough."""
        return not self.reasons

    @property
    def verdict(self) -> str:
        """An empty string: a calibration has no gate."""
        return ""

    @property
    def says(self) -> str:
        """Where larger batches stop paying."""
        return self.curve.knee().reason

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        base_ns, row_ns, worst = self.curve.fit()
        largest = self.curve.sizes[-1]
        return {
            "reasons": list(self.reasons),
            "says": self.says,
            "model": self.work.says,
            "points": [one.facts() for one in self.timed],
            "left_out": list(self.left_out),
            "fit": {"base_ns": base_ns, "row_ns": row_ns, "worst_residual": worst},
            "knee": vars(self.curve.knee()),
            "overhead_ns": self.overhead_ns,
            "ceiling": self.curve.ceiling(largest),
            "limit_rows_per_s": self.curve.max_throughput(largest),
        }


Calibrate = Callable[[Work], Calibration]


def calibrated(bench: Bench, work: Work) -> Calibration:
    """Measure the service times of a work; Skipped and TargetError as `service_times`."""
    return Calibration(work, service_times(bench, work))


def saturation(bench: Bench, served: Served, config: BatcherConfig) -> Run:
    """Run a closed loop that never leaves an instance idle; its throughput is the capacity.

    That takes at least two batches of clients for each instance: one batch in the model and one that forms. One more batch
    hides the time that answers and requests travel. Unmeasured if nothing is answered.
    """
    clients = (2 * config.instances + 1) * config.max_batch_size
    closed_loop(served.submit, served.clock, clients, wait_ns=bench.wait_ns, requests=2 * clients)  # warm-up
    seconds = bench.seconds(2.0, 1.0)
    run = bench.valid(
        lambda: closed_loop(served.submit, served.clock, clients, wait_ns=bench.wait_ns, seconds=seconds),
        least=CAPACITY_ATTEMPTS,
    )
    if not run.throughput:
        bench.check_alive()
        raise Unmeasured(f"the capacity, with {clients} clients: {run.validity}")
    return run
