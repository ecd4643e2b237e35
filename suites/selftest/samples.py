"""Samples of a load generator, made by hand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from batchproof.load.samples import OUTCOMES, Samples
from batchproof.stats.arrays import NEVER

MS = 1_000_000


def samples(count: int = 1000, **changed: Any) -> Samples:
    """A request is due every millisecond, sent at once and answered after 10 ms."""
    due = np.arange(count, dtype=np.int64) * MS
    columns = {"scheduled_ns": due, "sent_ns": due, "done_ns": due + 10 * MS, "outcome": np.zeros(count, np.uint8)}
    return Samples(**{**columns, "client": np.zeros(count, np.int32), **changed})


def late_by(share: float, ns: int, count: int = 1000) -> Samples:
    """The last `share` of the requests are sent and answered late."""
    plain = samples(count)
    late = np.where(np.arange(count) >= count * (1 - share), ns, 0)
    return samples(count, sent_ns=plain.sent_ns + late, done_ns=plain.done_ns + late)


def recorded(scheduled: list[int], sent: list[int], done: list[int], failed: tuple[int, ...] = ()) -> Samples:
    """Return samples in ns; those of `failed` were refused because the queue was full."""
    outcome = np.array([OUTCOMES.index("full" if n in failed else "answered") for n in range(len(done))], dtype=np.uint8)
    columns = (np.array(one, dtype=np.int64) for one in (scheduled, sent, done))
    return Samples(*columns, outcome, np.zeros(len(done), dtype=np.int32))


def by_hand(
    scheduled: Iterable[int], done: Iterable[int | None], outcome: list[int] | None = None, client: list[int] | None = None
) -> Samples:
    """Return samples from times in ms (None: never). Requests are sent when they are due."""
    at = np.array(list(scheduled), dtype=np.int64) * MS
    ended = np.array([NEVER if one is None else one * MS for one in done], dtype=np.int64)
    outcomes = np.array(outcome or [0] * at.size, dtype=np.uint8)
    return Samples(at, at, ended, outcomes, np.array(client or [0] * at.size, dtype=np.int32))
