"""The duel: when it ends, what it asks of the sides, and what counts."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

import pytest

from batchproof.bench.ab.duel import Duel, Load, pilot
from batchproof.bench.ab.question import questions
from batchproof.load.workload import Unmeasured
from batchproof.stats.change import FASTER, INVALID, SAME, SLOWER, UNPROVEN
from batchproof.suites.selftest.bench.ab.fake_sides import FakeClock, FakeSide, sides

if TYPE_CHECKING:
    from collections.abc import Callable

LOAD = Load(24, 300, 400.0)
TYPICAL, MEAN = "typical throughput", "mean throughput"


def noisy(rate: float, noise: float, seed: int) -> Callable[[int], float]:
    """Rates around this one."""
    coin = random.Random(seed)
    return lambda _number: rate * math.exp(noise * coin.gauss(0, 1))


def duel(
    base: float, new: float, *, noise: float = 0.01, seconds: float = 60.0, load: float = 0.0
) -> tuple[Duel, FakeSide, FakeSide]:
    """Run a duel of sides with these rates."""
    clock = FakeClock()
    one, two = FakeSide(clock, noisy(base, noise, 1)), FakeSide(clock, noisy(new, noise, 2))
    found = Duel(sides(one, two), questions("device", load), LOAD, 0.05, seconds, 1729, clock.now)
    list(found.run())
    return found, one, two


@pytest.mark.parametrize(("new", "answer"), [(640.0, SAME), (608.0, SLOWER), (700.0, FASTER), (500.0, SLOWER)])
def test_it_ends_as_soon_as_it_is_decided(new: float, answer: str) -> None:
    """Both figures are, at the first look, which eleven pairs are enough for with two questions."""
    found, one, two = duel(640.0, new)

    assert {name: one.change for name, one in found.answers.items()} == {TYPICAL: answer, MEAN: answer}
    assert len(found.pairs) == len(one.made) == len(two.made) == 11
    assert found.answers[MEAN].ratio.estimate == pytest.approx(new / 640.0, rel=0.02)
    assert found.answers[MEAN].base == pytest.approx(640.0, rel=0.02)


def test_when_the_time_is_over_it_says_so() -> None:
    """Noise that hides the difference: UNPROVEN, after as many pairs as there was time for."""
    found, *_ = duel(640.0, 620.0, noise=0.4, seconds=20.0)

    assert {one.change for one in found.answers.values()} == {UNPROVEN}
    assert len(found.pairs) == 25


def test_too_little_time_decides_nothing() -> None:
    """Three pairs prove nothing, however far apart the sides are."""
    found, *_ = duel(640.0, 300.0, seconds=2.0)

    assert {one.change for one in found.answers.values()} == {UNPROVEN}


def test_the_order_is_random_and_the_seed_makes_it_again() -> None:
    """Neither side is first more often than chance would have it."""
    found, *_ = duel(640.0, 620.0, noise=0.5, seconds=300.0)
    again, *_ = duel(640.0, 620.0, noise=0.5, seconds=300.0)
    firsts = [one.first for one in found.pairs]

    assert firsts == [one.first for one in again.pairs]
    assert 0.4 < firsts.count("base") / len(firsts) < 0.6


def test_both_sides_get_the_same_arrivals() -> None:
    """Of each pair, and other ones in the next."""
    found, one, two = duel(640.0, 640.0, load=0.6)
    mine, theirs = ([order for order in side.made if order[0] == "pace"] for side in (one, two))

    assert mine == theirs
    assert len({order[3] for order in mine}) == len(mine)
    assert {name: one.change for name, one in found.answers.items()} == dict.fromkeys(
        (TYPICAL, MEAN, "p50 latency", "p99 latency"), SAME
    )


def test_a_slower_figure_ends_it() -> None:
    """Twice the latency is SLOWER, whatever the throughput is."""
    clock = FakeClock()
    one = FakeSide(clock, noisy(640, 0.3, 1))
    two = FakeSide(clock, lambda number: 320 if two.made[number][0] == "pace" else 640)
    found = Duel(sides(one, two), questions("device", 0.6), LOAD, 0.05, 600, 1, clock.now)
    one.rate = lambda number: 640 if one.made[number][0] == "pace" else noisy(640, 0.3, number)(number)
    list(found.run())

    assert found.answers["p50 latency"].change == SLOWER
    assert found.answers[MEAN].change == UNPROVEN
    assert len(found.pairs) < 40


def test_pairs_that_the_host_spoilt_do_not_count() -> None:
    """They are kept, and the answer rests on the others."""
    clock = FakeClock()
    one = FakeSide(clock, noisy(640, 0.01, 1), lambda number: {"why": "the host stalled"} if number % 3 == 0 else {})
    two = FakeSide(clock, noisy(640, 0.01, 2))
    found = Duel(sides(one, two), questions("device", 0.0), LOAD, 0.05, 60, 1, clock.now)
    list(found.run())

    assert found.answers[MEAN].change == SAME
    assert (found.answers[MEAN].ratio.n, found.answers[MEAN].dropped) == (11, 6)
    assert found.pairs[0].dropped == "base: the host stalled"


def test_if_most_pairs_are_spoilt_it_is_invalid() -> None:
    """The reason is the host's, and there is no verdict about the side."""
    clock = FakeClock()
    one = FakeSide(clock, noisy(640, 0.3, 1), lambda number: {"why": "the host stalled"} if number % 3 else {})
    two = FakeSide(clock, noisy(640, 0.3, 2))
    found = Duel(sides(one, two), questions("device", 0.0), LOAD, 0.05, 20, 1, clock.now)
    list(found.run())

    assert found.answers[MEAN].change == INVALID
    assert "pairs were dropped, the last one because of this: base: the host stalled" in found.answers[MEAN].why


def test_a_side_that_leaves_requests_unanswered_is_no_comparison() -> None:
    """It is INVALID at once, with the side's name: no speed makes up for answers that are missing."""
    clock = FakeClock()
    one = FakeSide(clock, lambda _: 640)
    two = FakeSide(clock, lambda _: 900, lambda number: {"failed": 3} if number == 2 else {})
    found = Duel(sides(one, two), questions("device", 0.0), LOAD, 0.05, 60, 1, clock.now)
    list(found.run())

    assert found.answers[MEAN].change == INVALID
    assert found.answers[MEAN].why == "new did not answer 3 of 200 requests"
    assert len(found.pairs) == 3


def test_the_pilot_finds_a_load_for_both() -> None:
    """Two batches of clients on each instance and one more; a block of 0.4 s; the rate is a share of the base's."""
    clock = FakeClock()
    one, two = FakeSide(clock, lambda _: 640.0), FakeSide(clock, lambda _: 100.0)

    assert pilot(sides(one, two), 2, 8, 0.6) == Load(40, 80 + 256, pytest.approx(384.0))
    assert one.made[0] == ("saturate", 40, 80 + 160)


def test_a_pilot_without_an_answer_says_who() -> None:
    """Nothing can be compared then."""
    clock = FakeClock()
    one, two = FakeSide(clock, lambda _: 640.0), FakeSide(clock, lambda _: 640.0, lambda _: {"failed": 200})

    with pytest.raises(Unmeasured, match="new answered none of 200 requests"):
        pilot(sides(one, two), 1, 8, 0.0)
