"""Isolation and overload, in virtual time: what they find is exact, and it changes when the batcher is wrong."""

from dataclasses import replace

import numpy as np
import pytest

from batchproof.bench.measurement import Bench
from batchproof.bench.measurements import isolation, overload
from batchproof.bench.measurements.overload import saturation
from batchproof.load import phases
from batchproof.load.samples import OUTCOMES, Samples
from batchproof.load.schedule import constant
from batchproof.load.validity import Validity
from batchproof.load.workload import MS, WORKS, Served, Unmeasured
from batchproof.reference_batcher import BatcherConfig
from batchproof.reference_batcher.virtual import VirtualClock
from batchproof.stats.arrays import NEVER
from batchproof.targets.protocol import Response
from batchproof.targets.verbs import full

FULL = OUTCOMES.index("full")


pytestmark = pytest.mark.usefixtures("longer")


def samples(scheduled, done, outcome=None, client=None):
    """Return hand-written samples, in ms; None: never."""
    n = len(scheduled)
    at = np.array(scheduled, dtype=np.int64) * MS
    return Samples(
        at,
        at,
        np.array([NEVER if one is None else one * MS for one in done], dtype=np.int64),
        np.array(outcome or [0] * n, dtype=np.uint8),
        np.array(client or [0] * n, dtype=np.int32),
    )


# Parts of runs.


def test_phases_have_the_same_arrivals_where_that_is_asked():
    """Shifted by the phase, in one schedule."""
    parts = phases.phases(("before", 1.0, 50.0), ("after", 1.0, 50.0))
    due = phases.schedule(parts, 3, alike=True).due_ns
    half = due.size // 2
    assert (due[half:] - due[:half] == 1_000 * MS).all()


def test_merged_schedules_say_whose_each_arrival_is():
    """In the order of time; of one moment, in the order given."""
    both, whose = phases.merged(constant(10, 0.3), constant(5, 0.3))
    assert both.due_ns.tolist() == [0, 0, 100 * MS, 200 * MS, 200 * MS]
    assert whose.tolist() == [0, 1, 0, 0, 1]


def test_refusals_are_late_and_not_inside():
    """A refused request counts against attainment and p99, and waits in no queue."""
    seen = samples([0, 1, 2, 3], [4, 5, 2, None], [0, 0, FULL, len(OUTCOMES) - 1])
    found = phases.figures(seen, 4 * MS, 2.0)
    assert (found["attainment"], found["goodput"], found["p50_ns"], found["p99_ns"]) == (0.5, 1.0, 4 * MS, None)
    assert found["answered_p99_ns"] == 4 * MS
    assert found["outcomes"] == {"answered": 2, "full": 1, "unanswered": 1}
    assert phases.most_inside(seen) == 2


def test_fairness_by_hand():
    """Two clients of two requests each: one gets all, the other half."""
    seen = samples([0, 0, 0, 0], [1, 1, 1, None], [0, 0, 0, FULL], [0, 0, 1, 1])
    found = overload.fairness(seen)
    assert found["least_to_mean"] == pytest.approx(0.5 / 0.75)
    assert found["jain"] == pytest.approx(1.5**2 / (2 * 1.25))


def test_overtaking_by_hand():
    """Two come back after one that was sent later."""
    assert overload.overtaken(samples([0, 1, 2, 3], [5, 7, 4, 9])) == 0.5
    assert overload.overtaken(samples([0, 1, 2], [5, 5, 9])) == 0


def test_starvation_by_hand():
    """What is answered after the load counts as waiting until its end."""
    found = isolation.starvation(samples([0, 2, 4, 6], [3, 20, None, 7], [0, 0, len(OUTCOMES) - 1, 0]), 10 * MS)
    assert found == {"served_share": 0.5, "longest_wait_ns": 8 * MS}


def test_recovery_by_hand():
    """A median of 50 requests in a row, from the first of them."""
    before = phases.Phase("before", 0, 0.1, 1000)
    slow = [20] * 30 + [1] * 120
    seen = samples(range(250), [at + 1 for at in range(100)] + [100 + at + slow[at] for at in range(150)])
    assert overload.recovery_ns(seen, before, 100 * MS) == 6 * MS  # 24 of the next 50 are slow
    never = samples(range(250), [at + 1 for at in range(100)] + [100 + at + 20 for at in range(150)])
    assert overload.recovery_ns(never, before, 100 * MS) is None


# Isolation and overload on a batcher.


def test_a_spike_on_b_leaves_a_alone(bench, monkeypatch):
    """Two models of one target share nothing: A's figures are the same in all phases, but for who arrives at their ends."""
    monkeypatch.setattr(isolation, "_levels", lambda *_: {"headline": "", "partly": False, "reasons": [], "tables": []})
    found = isolation.measure(bench())
    assert found["valid"], found["reasons"]
    a, b = found["models"]["A"], found["models"]["B"]
    assert {part["requests"] for part in a.values()} == {a["before"]["requests"]}
    assert found["models"]["p99_ratio"] == pytest.approx(1, abs=0.05)
    assert b["during"]["p99_ns"] > 10 * b["before"]["p99_ns"]


def test_isolation_without_a_capacity_has_no_result(bench, monkeypatch):
    """All loads are parts of it: one that is invalid spoils models and levels alike, with the reason."""
    real = isolation.saturation
    noisy = Validity(("the host stalled",))
    monkeypatch.setattr(isolation, "saturation", lambda *asked: replace(real(*asked), validity=noisy))
    found = isolation.measure(bench())
    assert not found["valid"]
    assert not found["partly"]
    assert found["reasons"] == ["models: capacity: the host stalled"] * 2 + ["levels: capacity: the host stalled"]


def test_urgent_requests_starve_the_others_and_are_served_in_time(bench, monkeypatch):
    """By what the urgent leave; a batcher that ignores priorities shows other figures."""
    monkeypatch.setattr(isolation, "QUICK_URGENT_LOADS", (0.8, 1.2))
    monkeypatch.setattr(isolation, "_models", lambda *_: {"headline": "", "valid": True, "reasons": [], "tables": []})
    result = isolation.measure(bench())["levels"]
    busy, swamped = result["rows"]
    assert not result["reasons"]
    assert busy["urgent"]["attainment"] > 0.99
    assert swamped["served_share"] < 0.05
    assert swamped["longest_wait_ns"] > 0.45e9
    ignored, drowned = isolation.measure(bench("mutant:priority-ignored"))["levels"]["rows"]
    assert ignored["urgent"]["attainment"] < 0.9
    assert drowned["served_share"] > 0.5


def test_overload_is_refused_or_grows(bench, monkeypatch):
    """Three times the capacity: without a limit the latency grows by 2 s a second, with one the queue is bounded."""
    monkeypatch.setattr(overload, "QUICK_LOADS", ((3.0,), (3.0,)))
    result = overload.measure(bench())
    assert result["valid"], result["reasons"]
    free, sized, timed = result["rows"]
    assert free["growth"] == pytest.approx(2, rel=0.1)
    assert sized["most_inside"] == sized["bound"] == 12
    assert set(sized["outcomes"]) == {"answered", "full"}
    assert set(timed["outcomes"]) == {"answered", "expired"}
    assert all(row["goodput"] > 0.9 * result["capacity"] > 10 * free["goodput"] for row in (sized, timed))
    assert all(row["jain"] > 0.95 and row["overtaken"] == 0 for row in result["rows"])
    unlimited, *limited = (spike["recovery_ns"] for spike in result["spikes"])
    assert unlimited == pytest.approx(result["spikes"][0]["expected_ns"], rel=0.2)
    assert max(limited) < unlimited / 20


def test_overload_shows_a_batcher_without_a_limit(bench, monkeypatch):
    """One that forgets max_queue_size is far over its bound."""
    monkeypatch.setattr(overload, "QUICK_LOADS", ((3.0,), (3.0,)))
    monkeypatch.setattr(overload, "SPIKE", 1.0)
    limits = overload.limits
    monkeypatch.setattr(overload, "limits", lambda *arguments: limits(*arguments)[:1])
    _, row = overload.measure(bench("mutant:queue-unlimited"))["rows"]
    assert row["most_inside"] > 10 * row["bound"]


def test_a_target_without_an_answer_has_no_capacity(bench_of_nobody):
    """What compares with the capacity has no result where nothing is answered, and says why."""
    bench, served, config = bench_of_nobody

    with pytest.raises(Unmeasured, match="the capacity, with 12 clients: INVALID: 12 of 12 requests had no answer"):
        saturation(bench, served, config)


@pytest.fixture
def bench_of_nobody():
    from concurrent.futures import Future
    from types import SimpleNamespace

    class Mute:
        clock = VirtualClock()

        def submit(self, _request) -> "Future[Response]":
            return Future()

        def close(self) -> None:
            """Nothing to close."""

    bench = Bench(full(SimpleNamespace(deploy=None)), SimpleNamespace(), quick=True, wait_ns=1000 * MS)
    return bench, Served(Mute(), WORKS["accelerator"]), BatcherConfig(max_batch_size=4)
