"""Isolation, in virtual time: what it finds is exact, and it changes when the batcher is wrong."""

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
    """Measure."""
    return isolation.measure(bench, partial(calibrated, bench))


def test_starvation_by_hand():
    """What is answered after the load counts as waiting until its end."""
    found = isolation.starvation(by_hand([0, 2, 4, 6], [3, 20, None, 7], [0, 0, len(OUTCOMES) - 1, 0]), 10 * MS)
    assert found == isolation.Starvation(0.5, 8 * MS)


def test_a_spike_on_b_leaves_a_alone(bench, monkeypatch):
    """Two models of one target share nothing: A's figures are the same in all phases, but for who arrives at their ends."""
    monkeypatch.setattr(isolation, "of_levels", lambda *_: isolation.Unclaimed("not asked"))
    result = measured(bench())
    models = result.found.models
    assert result.valid, result.reasons
    assert {part.service.requests for part in models.a.values()} == {models.a["before"].service.requests}
    assert models.p99_ratio == pytest.approx(1, abs=0.05)
    assert models.b["during"].service.p99_ns > 10 * models.b["before"].service.p99_ns
    assert [table.title for table in tables(result.found)] == ["A critical model beside a spike on another"]


def test_isolation_without_a_capacity_has_no_result(bench, monkeypatch):
    """All loads are shares of it: one that is invalid spoils models and levels alike, with the reason."""
    real = isolation.saturation
    noisy = Validity(("the host stalled",))
    monkeypatch.setattr(isolation, "saturation", lambda *asked: replace(real(*asked), validity=noisy))
    result = measured(bench())
    assert (result.valid, result.partly) == (False, False)
    assert result.reasons == ("models: capacity: the host stalled",) * 2 + ("levels: capacity: the host stalled",)
    assert "discarded" in result.facts()["models"]


def test_urgent_requests_starve_the_others_and_are_served_in_time(bench, monkeypatch):
    """By what the urgent leave; a batcher that ignores priorities shows other figures."""
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
