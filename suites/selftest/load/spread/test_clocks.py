"""The estimate of a worker's clock: never further off than it says, however unlike the two ways are."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchproof.load.spread.clocks import GRAIN_NS, MOST, MOST_DRIFT, ClockEstimate, Exchange, UnevenClock

MS, S = 1_000_000, 1_000_000_000
offsets = st.integers(-(10**18), 10**18)
drifts = st.floats(-0.9 * MOST_DRIFT, 0.9 * MOST_DRIFT)
delays = st.integers(0, 300 * MS)


def exchange(at_ns: int, there_ns: int, back_ns: int, offset_ns: int, drift: float = 0.0) -> Exchange:
    """Return what a message sent at `at_ns` shows, given how long it and its answer are on their way."""
    arrived, left = at_ns + there_ns, at_ns + there_ns + 50_000
    return Exchange(
        at_ns, arrived + offset_ns + round(drift * arrived), left + offset_ns + round(drift * left), left + back_ns
    )


@settings(max_examples=60, deadline=None)
@given(offsets, drifts, st.lists(st.tuples(delays, delays), min_size=1, max_size=25), st.floats(0, 1))
def test_the_truth_is_within_the_uncertainty(
    offset: int, drift: float, ways: list[tuple[int, int]], where: float
) -> None:
    """For any offset, any drift that clocks have, and any delays of either way: also where one way takes all the time."""
    seen = [exchange(number * 200 * MS, there, back, offset, drift) for number, (there, back) in enumerate(ways)]
    at_ns = round(where * len(ways) * 200 * MS)

    estimate = ClockEstimate(seen)

    truth = offset + drift * at_ns
    found = estimate.at(at_ns)
    assert abs(found.middle - truth) <= found.within + 10 * GRAIN_NS
    assert estimate.drift.low - 1e-9 <= drift <= estimate.drift.high + 1e-9


@settings(max_examples=30, deadline=None)
@given(offsets, delays, delays)
def test_half_a_round_trip_bounds_the_error(offset: int, there: int, back: int) -> None:
    """At the moment of the exchanges the uncertainty is at most half of the shortest round trip, and a little for drift."""
    seen = [exchange(number * 10 * MS, there, back, offset) for number in range(10)]

    estimate = ClockEstimate(seen)

    assert estimate.round_trip_ns == there + back
    slack = GRAIN_NS + MOST_DRIFT * (there + back + 50_000)
    assert estimate.at(50 * MS).within <= (there + back) / 2 + slack


def test_the_quickest_messages_decide() -> None:
    """One slow way among many does not move the estimate, as it would move a mean."""
    quick = [exchange(number * 100 * MS, MS, MS, 7 * S) for number in range(20)]
    slow = [exchange(number * 100 * MS + 50 * MS, MS, 400 * MS, 7 * S) for number in range(20)]

    assert ClockEstimate([*quick, *slow]).at(S).within == pytest.approx(ClockEstimate(quick).at(S).within, rel=0.02)


def test_drift_is_seen_in_a_minute() -> None:
    """With round trips of 2 ms, 100 ppm are known to within 40 ppm after a minute."""
    draw = random.Random(1)
    ways = [(draw.randrange(MS, 3 * MS), draw.randrange(MS, 3 * MS)) for _ in range(300)]
    seen = [exchange(number * 200 * MS, there, back, -S, 1e-4) for number, (there, back) in enumerate(ways)]

    drift = ClockEstimate(seen).drift

    assert drift.low <= 1e-4 <= drift.high
    assert drift.within < 4e-5


def test_long_sessions_are_thinned_out() -> None:
    """An hour of exchanges costs no more than some minutes, and the quickest of each stretch are kept."""
    seen = [exchange(number * 200 * MS, MS + 50 * (number % 7), MS, 3 * S) for number in range(10 * MOST)]

    found = ClockEstimate(seen).at(1000 * 200 * MS)

    assert abs(found.middle - 3 * S) <= found.within <= MS + 10_000


@pytest.mark.parametrize("jump_ns", [-40 * MS, 40 * MS, 5 * S])
def test_a_clock_that_jumps_is_found(jump_ns: int) -> None:
    """A machine that was suspended has no offset that could be told."""
    before = [exchange(number * 100 * MS, MS, MS, 0) for number in range(10)]
    after = [exchange(S + number * 100 * MS, MS, MS, jump_ns) for number in range(10)]

    with pytest.raises(UnevenClock, match="its clock jumped, or changed its rate"):
        ClockEstimate([*before, *after]).at(S)


def test_without_exchanges_nothing_is_known() -> None:
    """There is no estimate to begin with."""
    with pytest.raises(ValueError, match="without an exchange nothing is known"):
        ClockEstimate([])
