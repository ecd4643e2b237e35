"""The sequential test: its error rates hold although it looks again and again, with heavy tails and lasting noise."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

from batchproof.stats import intervals
from batchproof.stats.change import FASTER, SAME, SLOWER, UNPROVEN, change
from batchproof.stats.sequential import LOOKS, Plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

    Floats = np.ndarray[tuple[int], np.dtype[np.float64]]

RUNS = 1000
FIRST = 10  # pairs: the fewest that can decide at 99 %
MOST = 84  # pairs in a minute, each of two blocks of 0.3 s and what surrounds them
MARGIN = 0.05
HUNDREDTH = 0.01 + 2.3 * math.sqrt(0.01 * 0.99 / RUNS)  # more than this in a thousand runs is not chance


# Each of these draws the logarithms of `MOST` pairs without an effect.


def normal(rng: Generator) -> Floats:
    """A quiet host: 3 %."""
    return rng.normal(0, 0.03, MOST)


def heavy(rng: Generator) -> Floats:
    """Tails of three degrees of freedom, 5 %."""
    return rng.standard_t(3, MOST) * 0.05 / math.sqrt(3)


def lasting(rng: Generator) -> Floats:
    """Noise of single blocks that lasts for several of them, 6 %, and a coin for the order in each pair."""
    noise = rng.standard_t(3, 2 * MOST)
    for block in range(1, 2 * MOST):
        noise[block] += 0.7 * noise[block - 1]
    coin = rng.choice([-1, 1], MOST)
    return coin * (noise[0::2] - noise[1::2]) * 0.06 / noise.std() / math.sqrt(2)


def disturbed(rng: Generator) -> Floats:
    """One block in ten loses 5 to 40 %."""
    blocks = rng.normal(0, 0.02, 2 * MOST) - (rng.random(2 * MOST) < 0.1) * rng.uniform(0.05, 0.4, 2 * MOST)
    return blocks[0::2] - blocks[1::2]


NOISES = (normal, heavy, lasting, disturbed)


def answers(
    noise: Callable[[Generator], Floats], true: float, margin: float = MARGIN, plan: Plan | None = None
) -> Counter[str]:
    """Count the answers of many runs at this true ratio, each of which stops when it is decided."""
    plan = plan or Plan.up_to(MOST)
    rng = np.random.default_rng(1729)
    return Counter(run(plan, np.exp(noise(rng) + math.log(true)), margin) for _ in range(RUNS))


def run(plan: Plan, ratios: Floats, margin: float) -> str:
    """Look as planned; return the first answer."""
    for look in plan.looks:
        if (answer := plan.decided(ratios[:look].tolist(), margin, "higher")) != UNPROVEN:
            return answer
    return UNPROVEN


@pytest.mark.parametrize("noise", NOISES)
def test_without_a_change_it_rarely_finds_one(noise: Callable[[Generator], Floats]) -> None:
    """At most 1 % SLOWER, and at most 1 % FASTER, in all looks together; and nearly all are decided."""
    found = answers(noise, 1.0)

    assert found[SLOWER] / RUNS <= HUNDREDTH
    assert found[FASTER] / RUNS <= HUNDREDTH
    assert found[SAME] / RUNS >= 0.95


@pytest.mark.parametrize("noise", NOISES)
def test_five_percent_is_found(noise: Callable[[Generator], Floats]) -> None:
    """At least 95 % SLOWER, and at most 1 % SAME, within the pairs of a minute."""
    found = answers(noise, 0.95)

    assert found[SLOWER] / RUNS >= 0.95
    assert found[SAME] / RUNS <= HUNDREDTH


@pytest.mark.parametrize("noise", NOISES)
def test_without_a_margin_to_stop_at_the_rate_holds_too(noise: Callable[[Generator], Floats]) -> None:
    """A margin of 0 has no SAME that could end a run early, so that every look is taken: the worst case."""
    found = answers(noise, 1.0, margin=0.0)

    assert found[SLOWER] / RUNS <= HUNDREDTH
    assert found[SAME] == 0


def test_students_t_decides_less_often_where_blocks_are_disturbed() -> None:
    """The reason for signed ranks: at the same looks, with the same doubt, means leave more undecided."""
    plan, rng = Plan.up_to(MOST), np.random.default_rng(1729)
    doubt = 0.01 / len(plan.looks)
    undecided = 0
    for _ in range(RUNS // 4):
        ratios = np.exp(disturbed(rng))
        found = [
            change(intervals.geometric_mean(ratios[:look].tolist(), 1 - doubt), MARGIN, "higher") for look in plan.looks
        ]
        undecided += set(found) == {UNPROVEN}

    assert undecided / (RUNS // 4) > 3 * answers(disturbed, 1.0)[UNPROVEN] / RUNS


@pytest.mark.parametrize("most", [1, 5, FIRST, 11, 12, 30, MOST, 850, 10_000])
def test_a_plan_has_few_looks_and_ends_where_the_pairs_end(most: int) -> None:
    """The looks ascend, from the tenth pair on."""
    looks = Plan.up_to(most).looks

    assert looks[-1] == most
    assert list(looks) == sorted(set(looks))
    assert len(looks) <= LOOKS
    assert looks[0] == min(most, FIRST)


def test_more_confidence_needs_more_pairs_before_the_first_look() -> None:
    """With the doubt shared among three questions, ten pairs could not decide, so no look is wasted on them."""
    plan = Plan.up_to(MOST, 1 - 0.01 / 3)

    assert plan.looks[0] == 12
    assert plan.decided([0.8] * 12, MARGIN, "higher") == SLOWER


def test_between_the_looks_nothing_is_said() -> None:
    """A decision at a number of pairs that is not in the plan would be one look too many."""
    plan = Plan.up_to(MOST)

    assert plan.decided([0.8] * FIRST, MARGIN, "higher") == SLOWER
    assert plan.decided([0.8] * (FIRST + 1), MARGIN, "higher") == UNPROVEN
    assert plan.at_the_end([0.8] * (FIRST + 1), MARGIN, "higher") == SLOWER
    assert plan.at_the_end([0.8] * (FIRST - 1), MARGIN, "higher") == UNPROVEN
    assert plan.at_the_end([], MARGIN, "higher") == "INVALID"


def test_two_percent_in_ten_minutes() -> None:
    """With a margin of 2 % and the pairs of ten minutes, 2 % is found, in noise of 6 % with heavy tails."""
    plan, rng = Plan.up_to(850), np.random.default_rng(1729)
    found = Counter(run(plan, 0.98 * np.exp(rng.standard_t(3, 850) * 0.06 / math.sqrt(3)), 0.02) for _ in range(100))

    assert found[SLOWER] >= 95
