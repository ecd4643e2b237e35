"""Overload, in virtual time: the figures are exact, and they change when the batcher is wrong."""

from functools import partial

import pytest

from batchproof.bench.calibration import calibrated
from batchproof.bench.measurements import overload
from batchproof.bench.tables.overload import tables
from batchproof.load import phases
from batchproof.load.samples import OUTCOMES
from batchproof.load.workload import MS
from batchproof.suites.selftest.samples import by_hand

FULL = OUTCOMES.index("full")
pytestmark = pytest.mark.usefixtures("longer")


def measured(bench):
    """Make the measurement."""
    return overload.measure(bench, partial(calibrated, bench))


def test_fairness_of_two_clients():
    """A hand-made case: two clients send two requests each; one has all of them served, the other half."""
    seen = by_hand([0, 0, 0, 0], [1, 1, 1, None], [0, 0, 0, FULL], [0, 0, 1, 1])
    found = overload.fairness(seen)
    assert found.least_to_mean == pytest.approx(0.5 / 0.75)
    assert found.jain == pytest.approx(1.5**2 / (2 * 1.25))


def test_overtaken_requests_are_counted():
    """A hand-made case: two requests come back after one that was sent later."""
    assert overload.overtaken(by_hand([0, 1, 2, 3], [5, 7, 4, 9])) == 0.5
    assert overload.overtaken(by_hand([0, 1, 2], [5, 5, 9])) == 0


def test_recovery_is_when_the_next_50_requests_have_a_fast_median():
    """A hand-made case: recovery counts from the first of these 50, and a load that stays slow never recovers."""
    before = phases.Phase("before", 0, 0.1, 1000)
    slow = [20] * 30 + [1] * 120
    seen = by_hand(range(250), [at + 1 for at in range(100)] + [100 + at + slow[at] for at in range(150)])
    assert overload.recovery_ns(seen, before, 100 * MS) == 6 * MS  # 24 of the next 50 are slow
    never = by_hand(range(250), [at + 1 for at in range(100)] + [100 + at + 20 for at in range(150)])
    assert overload.recovery_ns(never, before, 100 * MS) is None


def test_an_overloaded_queue_is_bounded_or_grows(bench, monkeypatch):
    """At three times the capacity, latency grows by 2 s a second without a limit; with a limit, the queue is bounded."""
    monkeypatch.setattr(overload, "QUICK_LOADS", ((3.0,), (3.0,)))
    result = measured(bench())
    assert result.valid, result.reasons
    found = result.found
    free, sized, timed = found.rows
    assert free.growth == pytest.approx(2, rel=0.1)
    assert sized.most_inside == sized.bound == 12
    assert set(sized.service.outcomes) == {"answered", "full"}
    assert set(timed.service.outcomes) == {"answered", "expired"}
    assert all(row.service.goodput > 0.9 * found.capacity > 10 * free.service.goodput for row in (sized, timed))
    assert all(row.fairness.jain > 0.95 and row.overtaken == 0 for row in found.rows)
    unlimited, *limited = (spike.recovery_ns for spike in found.spikes)
    assert unlimited == pytest.approx(found.spikes[0].expected_ns, rel=0.2)
    assert max(limited) < unlimited / 20
    loads, spikes = tables(found)
    assert [row[:3] for row in loads.rows] == [[row.limit, 3.0, True] for row in found.rows]
    assert [row[0] for row in spikes.rows] == ["no limit", "max_queue_size"]


def test_overload_shows_a_batcher_without_a_limit(bench, monkeypatch):
    """A batcher that forgets max_queue_size is far over its bound."""
    monkeypatch.setattr(overload, "QUICK_LOADS", ((3.0,), (3.0,)))
    monkeypatch.setattr(overload, "SPIKE", 1.0)
    limits = overload.queue_limits
    monkeypatch.setattr(overload, "queue_limits", lambda *asked, **how: limits(*asked, **how)[:1])
    _, row = measured(bench("mutant:queue-unlimited")).found.rows
    assert row.most_inside > 10 * row.bound
