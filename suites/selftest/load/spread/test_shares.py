"""Splitting a schedule and merging what comes home: nothing is lost, doubled, moved or swapped."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchproof.load.samples import UNANSWERED, Samples
from batchproof.load.schedule import Schedule
from batchproof.load.spread.shares import merged, nothing_known, part_of, share
from batchproof.stats.arrays import NEVER, Ints

schedules = st.lists(st.integers(0, 1000), min_size=1, max_size=60).map(
    lambda due: Schedule(np.array(sorted(due), dtype=np.int64), "by hand", 1_000)
)
numbers_of_workers = st.integers(1, 9)


def seen(due: Ints, numbers: Ints) -> Samples:
    """Return samples in which every figure names its request, so that a swap shows."""
    outcome = (numbers % 2).astype(np.uint8)
    return Samples(due, due + 10_000 + numbers, due + 20_000 + numbers, outcome, numbers.astype(np.int32))


@given(schedules, numbers_of_workers)
def test_every_request_has_one_sender(schedule: Schedule, workers: int) -> None:
    """Each request is in one share, each share ascends, and no two differ by more than one request."""
    shares = [share(schedule.count, workers, index) for index in range(workers)]

    assert sorted(np.concatenate(shares).tolist()) == list(range(schedule.count))
    assert all((np.diff(one) > 0).all() for one in shares)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


@given(schedules, numbers_of_workers)
def test_a_share_keeps_its_times(schedule: Schedule, workers: int) -> None:
    """A worker's schedule has the due times of its requests, and the length of the whole."""
    for index in range(min(workers, schedule.count)):
        numbers = share(schedule.count, workers, index)
        part = part_of(schedule, numbers)
        assert part.due_ns.tolist() == [schedule.due_ns[number] for number in numbers]
        assert part.end_ns == schedule.end_ns


@given(schedules, numbers_of_workers, st.randoms())
def test_what_was_split_is_whole_again(schedule: Schedule, workers: int, random: object) -> None:
    """The parts may come home in any order: every sample is in its request's place, with all its columns."""
    shares = [share(schedule.count, workers, index) for index in range(workers)]
    parts = [(numbers, seen(schedule.due_ns[numbers], numbers)) for numbers in shares]
    random.shuffle(parts)  # type: ignore[attr-defined]

    whole = merged(parts)

    expected = seen(schedule.due_ns, np.arange(schedule.count, dtype=np.int64))
    for name, column in vars(expected).items():
        assert getattr(whole, name).tolist() == column.tolist(), name


def test_requests_that_are_due_together_keep_their_order() -> None:
    """Sorting by time could swap them."""
    due = np.zeros(6, dtype=np.int64)
    parts = [(numbers, seen(due[numbers], numbers)) for numbers in (share(6, 4, index) for index in (2, 0, 3, 1))]

    assert merged(parts).client.tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("numbers", [[0, 2], [0, 0], [1, 2]])
def test_a_share_that_is_missing_or_double_is_an_error(numbers: list[int]) -> None:
    """Samples of which one is missing are not quietly those of a smaller load."""
    whose = np.array(numbers, dtype=np.int64)
    with pytest.raises(ValueError, match="do not have every one of 2 requests exactly once"):
        merged([(whose, seen(whose * 0, whose))])


def test_there_is_no_worker_beyond_the_last() -> None:
    """An index that nobody has is a mistake."""
    with pytest.raises(ValueError, match="worker 2 does not exist: there are 2"):
        share(10, 2, 2)


def test_of_a_lost_share_nothing_is_known() -> None:
    """Its requests were perhaps sent and perhaps answered; they count as neither."""
    schedule = Schedule(np.array([0, 5, 10], dtype=np.int64), "by hand")
    lost = nothing_known(schedule, share(3, 2, 0))

    assert lost.scheduled_ns.tolist() == [0, 10]
    assert lost.outcomes() == {UNANSWERED: 2}
    assert set(lost.sent_ns.tolist()) == set(lost.done_ns.tolist()) == {NEVER}
