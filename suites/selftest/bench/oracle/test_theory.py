"""Theory under test: it gives the known values, and its law holds for simulated batches."""

from __future__ import annotations

import pytest

from batchproof.bench.oracle import chains, theory
from batchproof.bench.oracle.theory_validation import service_times
from batchproof.load.schedule import poisson
from batchproof.reference_batcher import BatcherConfig
from batchproof.reference_batcher.simulator import simulate

MS = 1_000_000
TAU = service_times(8)
CAPACITY = 8 / TAU[8] * 1e9


# Values of textbooks' formulas, computed independently of this code.
def test_theory_gives_the_known_values() -> None:
    """M/D/1, Inoue, bulk service, Triton's rule and the window agree with values that were computed elsewhere."""
    asked = [(load * 500, 2 * MS, percent) for load in (0.5, 0.7, 0.9) for percent in (50, 90, 99)]
    percentiles = [round(theory.md1_percentile_ns(*one) / MS, 3) for one in asked]
    assert percentiles == [2.0, 5.031, 8.673, 3.46, 8.154, 14.971, 8.026, 23.565, 45.796]
    assert theory.md1_mean_ns(450, 2 * MS) == pytest.approx(11 * MS)
    assert theory.md1_waits_at_most(450, 2 * MS, 0) == pytest.approx(0.1)
    assert theory.md1_waits_at_most(450, 2 * MS, -1) == 0

    bulk = [chains.bulk(load * CAPACITY, TAU, 8).mean_ns / MS for load in (0.1, 0.5, 0.9)]
    assert bulk == pytest.approx([2.7410, 4.0634, 6.4332], abs=1e-4)
    full = [chains.bulk(load * CAPACITY, TAU, 8, 8).mean_ns / MS for load in (0.3, 0.7, 0.9)]
    assert full == pytest.approx([8.852, 6.076, 6.970], abs=1e-3)
    delayed = [chains.delayed(0.1 * CAPACITY, TAU, 8, delay_ns) for delay_ns in (0, MS // 5, MS, 3 * MS)]
    assert [one.mean_ns / MS for one in delayed] == pytest.approx([2.7410, 2.8529, 3.3444, 4.8133], abs=1e-4)
    assert [one.mean_batch for one in delayed] == pytest.approx([1.104, 1.132, 1.258, 1.667], abs=1e-3)

    unlimited = [chains.unlimited(rate, 2 * MS, MS // 5).mean_ns / MS for rate in (50, 500, 4000)]
    bounds = [theory.greedy_bound_ns(rate, 2 * MS, MS // 5) / MS for rate in (50, 500, 4000)]
    assert unlimited == pytest.approx([2.3228, 3.2818, 15.7778], abs=1e-4)
    assert bounds == pytest.approx([2.3234, 3.5455, 15.7778], abs=1e-4)

    window = theory.window(1000, 8, 2 * MS)
    assert (window.mean_batch, window.mean_wait_ns / MS) == pytest.approx((2.9986, 1.3301), abs=1e-4)
    closed = [round(theory.closed_loop(clients, 2 * MS, MS // 5, 8)) for clients in (1, 2, 4, 8, 12, 16, 99)]
    assert closed == [455, 455, 833, 1429, 1875, 2222, 2222]


def test_special_cases_agree_with_each_other() -> None:
    """A chain without its special feature equals the simpler queue."""
    rate = 0.7 * CAPACITY
    assert chains.delayed(rate, TAU, 8, 0).mean_ns == pytest.approx(chains.bulk(rate, TAU, 8).mean_ns)
    assert chains.bulk(350, (0, 2 * MS), 1).mean_ns == pytest.approx(theory.md1_mean_ns(350, 2 * MS))
    assert chains.delayed(350, (0, 2 * MS), 1, MS).mean_ns == pytest.approx(theory.md1_mean_ns(350, 2 * MS))
    assert chains.bulk(500, service_times(200), 200).mean_ns == pytest.approx(chains.unlimited(500, 2 * MS, MS // 5).mean_ns)


def test_a_queue_without_a_steady_state_is_refused() -> None:
    """At capacity and above, every formula refuses."""
    for ask in (
        lambda: theory.md1_mean_ns(500, 2 * MS),
        lambda: theory.greedy_bound_ns(5000, 2 * MS, MS // 5),
        lambda: chains.bulk(1.01 * CAPACITY, TAU, 8),
        lambda: chains.delayed(1.01 * CAPACITY, TAU, 8, 0),
        lambda: chains.unlimited(5000, 2 * MS, MS // 5),
    ):
        with pytest.raises(theory.Unstable):
            ask()
    with pytest.raises(ValueError, match="exact only for delays up to"):
        chains.delayed(100, TAU, 8, 4 * MS)
    with pytest.raises(ValueError, match="too near capacity"):
        chains.bulk(0.9999 * CAPACITY, TAU, 8)


def test_the_greedy_law_holds_of_formed_batches() -> None:
    """In the long run the mean latency follows from the batches alone: within 1 % over 100,000 requests."""
    tau_ns = service_times(512)
    told = simulate(BatcherConfig(max_batch_size=512), poisson(2000, 50, 3).due_ns, tau_ns)

    assert theory.greedy_law_ns(2000, told.sizes.tolist(), tau_ns) == pytest.approx(told.latency_ns.mean(), rel=0.01)
    assert theory.greedy_mean_ns(2000, 2 * MS, MS // 5, told.mean_batch) == pytest.approx(told.latency_ns.mean(), rel=0.01)
