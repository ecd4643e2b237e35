"""What an interval of a ratio says about a change: each answer, both directions, and a swap of base and new."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchproof.stats.change import (
    CHANGES,
    FASTER,
    INVALID,
    SAME,
    SLOWER,
    UNPROVEN,
    Better,
    Change,
    change,
    same_range,
    worst,
)
from batchproof.stats.intervals import Interval, nothing

OPPOSITE = {FASTER: SLOWER, SLOWER: FASTER, SAME: SAME, UNPROVEN: UNPROVEN}


def between(low: float | None, high: float | None) -> Interval:
    """An interval with these bounds."""
    return Interval(1.0, low, high, 0.99, 9, 9.0)


@pytest.mark.parametrize(("low", "high", "answer"), [
    (0.96, 1.04, SAME),
    (0.999, 0.9995, SAME),  # certainly slower, and certainly by little
    (0.94, 0.99, SLOWER),
    (0.90, 0.94, SLOWER),
    (1.01, 1.10, FASTER),
    (0.94, 1.01, UNPROVEN),
    (0.99, 1.10, UNPROVEN),
    (0.95, 1.0, UNPROVEN),
    (None, 0.97, SLOWER),
    (1.02, None, FASTER),
    (None, 1.02, UNPROVEN),
    (None, None, UNPROVEN),
])  # fmt: skip
def test_a_throughput_is_judged_by_its_interval(low: float | None, high: float | None, answer: Change) -> None:
    """A higher ratio is FASTER."""
    assert change(between(low, high), 0.05, "higher") == answer


def test_more_latency_is_slower() -> None:
    """Where lower is better, the sides are exchanged."""
    assert change(between(1.01, 1.10), 0.05, "lower") == SLOWER
    assert change(between(0.90, 0.94), 0.05, "lower") == FASTER
    assert change(between(0.96, 1.049), 0.05, "lower") == SAME


def test_without_a_margin_nothing_is_the_same() -> None:
    """Two figures never agree exactly."""
    assert change(between(0.99999, 1.00001), 0.0, "higher") == UNPROVEN


def test_without_data_nothing_is_said() -> None:
    """No value: INVALID."""
    assert change(nothing(), 0.05, "higher") == INVALID


@pytest.mark.parametrize("margin", [-0.01, 1.0, 5.0])
def test_a_margin_is_a_share(margin: float) -> None:
    """5 instead of 0.05 is a mistake that must not pass."""
    with pytest.raises(ValueError, match=r"0\.05 for 5 %"):
        change(between(0.9, 1.1), margin, "higher")


@given(
    st.floats(0.5, 2.0), st.floats(1.0, 1.5), st.floats(0.001, 0.5), st.sampled_from(get_args(Better))
)  # fmt: skip
def test_exchanged_they_say_the_opposite(low: float, width: float, margin: float, better: Better) -> None:
    """What is SLOWER against a base is FASTER as the base of it."""
    least, most = same_range(margin, better)
    if min(abs(edge / bound - 1) for edge in (least, most, 1.0) for bound in (low, low * width)) < 1e-9:
        return  # a bound on an edge: rounding decides
    answer = change(between(low, low * width), margin, better)

    assert change(between(1 / (low * width), 1 / low), margin, better) == OPPOSITE[answer]


def test_the_worst_answer_counts() -> None:
    """One figure that is slower is enough; all answers are ranked."""
    assert set(CHANGES) == set(get_args(Change))
    assert worst((FASTER, SAME, SLOWER, INVALID)) == SLOWER
    assert worst((SAME, UNPROVEN)) == UNPROVEN
    assert worst((FASTER, SAME)) == SAME
    assert worst(()) == INVALID
