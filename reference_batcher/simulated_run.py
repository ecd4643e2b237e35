"""What a simulation leaves behind: when each request entered the model and was answered, and the batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

NEVER = int(np.iinfo(np.int64).max)
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class SimulatedRun:
    """What became of n requests, in k batches. The batches are in the order in which they were formed.

    due_ns, start_ns, done_ns: int64 [n], when each request arrived, entered the model and was answered; NEVER for a request
    that was not answered. sizes: int64 [k], rows of each batch. batch_start_ns: int64 [k]. refused: bool [n], never queued,
    because the queue was full or the request had too many rows. expired: bool [n], refused after its queue timeout.
    """

    due_ns: Ints
    start_ns: Ints
    done_ns: Ints
    sizes: Ints
    batch_start_ns: Ints
    refused: Mask
    expired: Mask

    @property
    def answered(self) -> Mask:
        """Which requests were answered, bool [n]."""
        return self.done_ns < NEVER

    @property
    def latency_ns(self) -> Ints:
        """From arrival to answer, int64 [n]; NEVER for a request that was not answered."""
        return np.where(self.answered, self.done_ns - self.due_ns, NEVER)

    @property
    def throughput(self) -> float:
        """Answers per second, from the first arrival to the last answer; 0.0 if nothing was answered."""
        done = self.done_ns[self.answered]
        span_ns = int(done.max() - self.due_ns.min()) if done.size else 0
        return done.size / span_ns * 1e9 if span_ns else 0.0

    @property
    def mean_batch(self) -> float:
        """Mean rows of a batch; 0.0 if there was none."""
        return float(self.sizes.mean()) if self.sizes.size else 0.0


def simulated_run(
    due_ns: Ints,
    order: Ints,
    starts: Ints,
    ends: Ints,
    sizes: Ints,
    counts: Ints,
    *,
    ordered: bool,
    refused: Sequence[int] = (),
    expired: Sequence[int] = (),
) -> SimulatedRun:
    """Spread k batches over n requests: `order` has the requests' numbers batch by batch, `counts` how many each batch has.

    ordered: a batch is answered when all earlier ones have been.
    """
    if ordered:
        ends = np.maximum.accumulate(ends)
    start_ns, done_ns = np.full(due_ns.size, NEVER), np.full(due_ns.size, NEVER)
    start_ns[order[::-1]] = np.repeat(starts, counts)[::-1]  # where a request is in several batches, its first one counts
    done_ns[order] = np.repeat(ends, counts)  # and its last one
    masks = np.zeros((2, due_ns.size), dtype=np.bool_)
    masks[0, list(refused)] = True
    masks[1, list(expired)] = True
    return SimulatedRun(due_ns, start_ns, done_ns, sizes, starts, *masks)
