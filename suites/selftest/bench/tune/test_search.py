"""The search for a configuration, in simulated time: predictions are exact, and the right part is blamed."""

import pytest

from batchproof.bench.oracle.curve import Curve
from batchproof.bench.tune.search import (
    Forecast,
    Goal,
    Machine,
    Simulator,
    Traffic,
    blame,
    grid_of,
    highest,
    highest_qps,
    nearest,
    ranked,
)
from batchproof.load.samples import OUTCOMES
from batchproof.load.schedule import ScheduleError
from batchproof.load.workload import MS, Work
from batchproof.reference_batcher import BatcherConfig

DEVICE = Work("device", "4 ms + 0.25 ms a row", 4 * MS, MS // 4)
CURVE = Curve.affine(DEVICE.base_ns, DEVICE.row_ns, (1, 2, 4, 8, 16, 32, 64, 128))
FULL = OUTCOMES.index("full")


pytestmark = pytest.mark.usefixtures("longer")


def point(size, rate, *, qps=1000.0, delay_ms=0, floor_ms=5.0, p99_ms=20.0, qps_p99_ms=30.0):
    """Return a predicted configuration."""
    config = BatcherConfig(max_batch_size=size, max_queue_delay_ns=delay_ms * MS)
    times = (round(one * MS) for one in (qps_p99_ms, floor_ms, p99_ms))
    qps_p99_ns, floor_ns, p99_ns = times
    return Forecast(config, qps, qps_p99_ns, floor_ns, rate, p99_ns, 1.0)


def test_an_island_of_rates_is_not_found():
    """A configuration fails at 300/s and holds again at 900/s: the search finds 290/s, within the resolution."""
    found = highest(lambda rate: rate <= 290 or 850 <= rate <= 950, 1000)
    assert 290 * 0.98 <= found <= 290


def test_a_search_ends_when_all_rates_hold_or_none_does():
    """It returns the highest rate if all hold, and 0 if none does."""
    assert highest(lambda _: True, 1000) == 1000
    assert highest(lambda _: False, 1000) == 0


def test_the_best_has_the_highest_rate_and_of_nearly_equal_ones_the_lowest_floor():
    """Rates within 2 % are a tie. A configuration that keeps the goal at no rate is not ranked."""
    points = [point(64, 1000, floor_ms=9), point(32, 990, floor_ms=6), point(16, 900, floor_ms=5), point(8, 0)]
    assert [one.config.max_batch_size for one in ranked(points)] == [32, 64, 16]


def test_the_highest_qps_is_throughput_alone():
    """Among configurations of equal throughput, the one with the lower p99 wins, whatever the goal is."""
    points = [point(8, 900, qps=1000), point(64, 10, qps=2000, qps_p99_ms=60), point(64, 0, qps=2001, qps_p99_ms=50)]
    assert highest_qps(points) is points[2]


def test_a_machine_is_calibrated_by_saturation():
    """What full batches take beyond the curve is busy time; the rest of what a lone request takes is the overhead."""
    curve = Curve((1, 2, 4), (10 * MS, 12 * MS, 16 * MS))
    machine = Machine.calibrated(curve, [(1, 1e3 / 11), (4, 4e3 / 19)], lone_ns=5 * MS)
    assert machine.curve == Curve((1, 2, 4), (11 * MS, 13_666_667, 19 * MS))
    assert machine.overhead_ns == 4 * MS
    faster = Machine.calibrated(curve, [(4, 4e3 / 15)], lone_ns=5 * MS)
    assert faster == Machine(curve, 5 * MS)  # no batch is faster than its curve


def test_a_trace_is_played_at_any_rate(tmp_path):
    """The arrivals are the same, but closer together."""
    path = tmp_path / "trace.txt"
    path.write_text("# unit: ms\n0\n10\n30\n100\n")
    traffic = Traffic(str(path))
    assert traffic.own_rate == pytest.approx(40)
    assert traffic.at(80, 1, 1).due_ns.tolist() == [0, 5 * MS, 15 * MS, 50 * MS]


@pytest.mark.parametrize("pattern", ["poissson", "on_off:rate=5", "gamma:shape=-1", "trace:path=/nowhere", "nowhere.txt"])
def test_traffic_that_cannot_be_played_is_refused(pattern):
    """The message names it, and a rate is not part of a pattern."""
    with pytest.raises(ScheduleError):
        Traffic(pattern).at(100, 1, 1)


def test_bursty_traffic_changes_the_answer():
    """Other arrivals on the same machine give another batch size and a lower rate. The highest QPS is never right."""
    answers = {}
    for pattern in ("poisson", "gamma:shape=0.05"):
        simulator = Simulator(Machine(CURVE), Traffic(pattern), Goal(25 * MS), 2.0, 1729)
        points = simulator.grid(grid_of((32, 64, 128), (5 * MS,), instances=4))
        answers[pattern] = ranked(points)[0]
        assert highest_qps(points).config.max_batch_size == 128
    steady, bursty = answers.values()
    assert (steady.config.max_batch_size, bursty.config.max_batch_size) == (64, 32)
    assert bursty.rate < 0.8 * steady.rate


def test_a_prediction_keeps_its_latency_budget():
    """At the rate found, p99 is just within the budget. At 3 % more it is not, and planning sees no chance above it."""
    simulator = Simulator(Machine(CURVE), Traffic(), Goal(30 * MS), 4.0, 7)
    config = BatcherConfig(max_batch_size=32)
    found = simulator.forecast(config, CURVE.max_throughput(32))
    assert simulator.at(config, found.rate) == (found.p99_ns, found.batch)
    assert found.p99_ns <= 30 * MS < simulator.at(config, 1.03 * found.rate)[0]
    assert simulator.plan(config, 1.05 * found.rate, 8.0, 0.99) is None
    assert simulator.plan(config, 0.5 * found.rate, 8.0, 0.99) <= 2.0


def test_blame_names_the_part_at_fault():
    """It names the model, the delay, the capacity or the queue."""
    machine, goal = Machine(Curve((1, 8), (10 * MS, 20 * MS)), 1 * MS), Goal(15 * MS)
    held = [point(8, 0, floor_ms=11, p99_ms=17), point(4, 0, floor_ms=11, p99_ms=16)]
    assert "only a faster model" in blame(held, machine, Goal(5 * MS))
    assert "delay" in blame([point(8, 0, delay_ms=9, floor_ms=20)], machine, goal)
    assert "more instances" in blame(held, machine, goal, asked=5000)
    assert "queueing" in blame(held, machine, goal)
    assert nearest(held).config.max_batch_size == 4
