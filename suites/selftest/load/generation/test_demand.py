"""What an engine is asked for: arrivals with lengths, at another rate, and of several clients."""

from __future__ import annotations

import numpy as np
import pytest

from batchproof.load.generation.demand import Demand, demand, merged
from batchproof.load.generation.lengths import Lengths
from batchproof.load.schedule import Schedule, ScheduleError, constant, poisson


def by_hand(due: list[int], prompts: list[int], texts: list[int]) -> Demand:
    """Return requests with these numbers."""
    columns = (np.array(one, np.int64) for one in (prompts, texts))
    return Demand(Schedule(np.array(due, np.int64), "by hand"), *columns, np.zeros(len(due), np.int32), "by hand")


def test_a_prompt_leaves_room_for_its_text() -> None:
    """The text keeps its length, and the prompt is cut."""
    found = demand(constant(10, 1), Lengths(100), Lengths(8), 1, longest=40)

    assert set(found.prompts.tolist()) == {32}
    assert set(found.texts.tolist()) == {8}
    assert found.longest == 40


def test_the_same_seed_makes_the_same_requests() -> None:
    """Prompts and texts have seeds of their own: a long prompt does not bring a long text."""
    one, two = (
        demand(poisson(100, 2, 1), Lengths(50, 0.8), Lengths(50, 0.8), 5, longest=512) for _ in range(2)
    )

    assert np.array_equal(one.prompts, two.prompts)
    assert np.array_equal(one.texts, two.texts)
    assert abs(np.corrcoef(one.prompts, one.texts)[0, 1]) < 0.3


def test_a_rate_stretches_all_gaps_alike() -> None:
    """Half the rate doubles the times; what comes after the end is left out."""
    found = by_hand([0, 10**9, 2 * 10**9], [1, 2, 3], [4, 5, 6]).at_rate(0.75)

    assert found.schedule.due_ns.tolist() == [0, 2 * 10**9, 4 * 10**9]
    assert found.at_rate(1.5, 1.5).prompts.tolist() == [1, 2]
    with pytest.raises(ScheduleError, match="no request arrives within"):
        by_hand([10**9], [1], [1]).at_rate(0.001, 1.0)


def test_the_first_requests_alone() -> None:
    """They keep their lengths."""
    assert by_hand([0, 1, 2], [1, 2, 3], [4, 5, 6]).first(2).texts.tolist() == [4, 5]


def test_merged_requests_keep_their_clients() -> None:
    """They are in order of time."""
    found = merged(by_hand([0, 30], [1, 2], [1, 1]), by_hand([10, 20], [3, 4], [1, 1]))

    assert found.schedule.due_ns.tolist() == [0, 10, 20, 30]
    assert found.prompts.tolist() == [1, 3, 4, 2]
    assert found.client.tolist() == [0, 1, 1, 0]


def test_impossible_requests_are_refused() -> None:
    """A text of no tokens is not a request for text."""
    with pytest.raises(ScheduleError, match="at least one token"):
        by_hand([0], [1], [0])
    with pytest.raises(ScheduleError, match="needs a prompt, a text and a client"):
        by_hand([0, 1], [1], [1])
