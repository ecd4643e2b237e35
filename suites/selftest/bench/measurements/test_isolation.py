"""Isolation, in virtual time: the figures are exact, and they change when the batcher is wrong."""

from dataclasses import replace
from functools import partial

import pytest

from batchproof.bench.calibration import calibrated
from batchproof.bench.measurements import isolation
from batchproof.bench.tables.isolation import tables
from batchproof.load.samples import OUTCOMES
from batchproof.load.validity import Validity
from batchproof.load.workload import MS
from batchproof.suites.selftest.samples import by_hand

pytestmark = pytest.mark.usefixtures("longer")


def measured(bench):
    """Make the measurement."""
    return isolation.measure(bench, partial(calibrated, bench))


def test_a_request_answered_after_the_load_counts_as_waiting_until_its_end():
    """A hand-made case: what is answered after the load counts as waiting until the load's end."""
    found = isolation.starvation(by_hand([0, 2, 4, 6], [3, 20, None, 7], [0, 0, len(OUTCOMES) - 1, 0]), 10 * MS)
    assert found == isolation.Starvation(0.5, 8 * MS)


def test_a_spike_on_b_leaves_a_alone(bench, monkeypatch):
    """The two models share nothing, so A's figures are the same in all phases, except at the ends of a phase."""
    monkeypatch.setattr(isolation, "of_levels", lambda *_: isolation.Unclaimed("not asked"))
    result = measured(bench())
    models = result.found.models
    assert result.valid, result.reasons
    assert {part.service.requests for part in models.a.values()} == {models.a["before"].service.requests}
    assert models.p99_ratio == pytest.approx(1, abs=0.05)
    assert models.b["during"].service.p99_ns > 10 * models.b["before"].service.p99_ns
    assert [table.title for table in tables(result.found)] == ["A critical model during a spike on another"]


def test_isolation_without_a_capacity_has_no_result(bench, monkeypatch):
    """All loads are shares of the capacity. If it is invalid, models and levels have no result either, and say why."""
    real = isolation.saturation
    noisy = Validity(("the host stalled",))
    monkeypatch.setattr(isolation, "saturation", lambda *asked: replace(real(*asked), validity=noisy))
    result = measured(bench())
    assert (result.valid, result.partly) == (False, False)
    assert result.reasons == ("models: capacity: the host stalled",) * 2 + ("levels: capacity: the host stalled",)
    assert "discarded" in result.facts()["models"]


def test_urgent_requests_starve_the_others_and_are_served_in_time(bench, monkeypatch):
    """The others starve by what the urgent requests take; a batcher that ignores priorities shows other figures."""
    monkeypatch.setattr(isolation, "QUICK_URGENT_LOADS", (0.8, 1.2))
    alone = {"before": None, "during": None, "after": None}
    monkeypatch.setattr(isolation, "of_models", lambda *_: isolation.Models(0, (0, 0), alone, alone, ("not asked",)))
    levels = measured(bench()).found.levels
    busy, swamped = levels.rows
    assert not levels.reasons
    assert busy.urgent.attainment > 0.99
    assert swamped.starvation.served_share < 0.05
    assert swamped.starvation.longest_wait_ns > 0.45e9
    ignored, drowned = measured(bench("mutant:priority-ignored")).found.levels.rows
    assert ignored.urgent.attainment < 0.9
    assert drowned.starvation.served_share > 0.5
