"""Who sends which request of a schedule, and the samples of all in one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from batchproof.load.samples import OUTCOMES, UNANSWERED, Samples
from batchproof.load.schedule import Schedule
from batchproof.stats.arrays import NEVER, Ints


def share(count: int, workers: int, index: int) -> Ints:
    """Return the numbers of the requests that worker `index` (from 0) of `workers` sends: round robin, int64, ascending."""
    if not 0 <= index < workers:
        raise ValueError(f"worker {index} does not exist: there are {workers}, numbered from 0")
    return np.arange(index, count, workers, dtype=np.int64)


def part_of(schedule: Schedule, numbers: Ints) -> Schedule:
    """Return these requests of a schedule as one of the same length; ScheduleError if there are none."""
    return Schedule(schedule.due_ns[numbers], schedule.spec, schedule.end_ns)


def nothing_known(schedule: Schedule, numbers: Ints) -> Samples:
    """Return the samples of requests of which nothing is known, because their sender was lost."""
    never = np.full(len(numbers), NEVER, dtype=np.int64)
    outcome = np.full(len(numbers), OUTCOMES.index(UNANSWERED), dtype=np.uint8)
    return Samples(schedule.due_ns[numbers], never, never.copy(), outcome, np.zeros(len(numbers), dtype=np.int32))


def merged(parts: Sequence[tuple[Ints, Samples]]) -> Samples:
    """Return all samples in the order of the schedule. A part is the numbers of its requests, and its samples in that order.

    ValueError unless every number from 0 on occurs exactly once.
    """
    numbers = np.concatenate([whose for whose, _ in parts])
    if not np.array_equal(np.sort(numbers), np.arange(len(numbers))):
        raise ValueError(f"the parts do not have every one of {len(numbers)} requests exactly once")
    order = np.argsort(numbers)
    columns = {one.name: np.concatenate([getattr(samples, one.name) for _, samples in parts]) for one in fields(Samples)}
    return Samples(**{name: column[order] for name, column in columns.items()})
