"""Tuning, in virtual time: what it finds is exact, and it changes when the batcher is wrong."""

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from batchproof.bench.oracle.curve import Curve
from batchproof.bench.tune import tune as tuner
from batchproof.bench.tune.command import TuneOptions, run_tune
from batchproof.bench.tune.search import (
    Goal,
    Machine,
    Point,
    Simulator,
    Traffic,
    blame,
    grid_of,
    highest,
    highest_qps,
    nearest,
    ranked,
)
from batchproof.bench.tune.tune import Wish, tune
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
    return Point(config, qps, qps_p99_ns, floor_ns, rate, p99_ns, 1.0)


def test_why_the_highest_qps_was_not_chosen_although_it_holds():
    """Because less is predicted of it; or because what is predicted of it could not be shown, and that is said."""
    assert "the one chosen is predicted to hold more" in tuner._between(point(16, 96), point(32, 80))
    assert "predicted to hold more (99/s, the one chosen 96/s)" in tuner._between(point(16, 96), point(32, 99))


# The search.


def test_an_island_of_rates_is_not_found():
    """What fails at 300/s and holds at 900/s again holds 290/s, within the resolution."""
    found = highest(lambda rate: rate <= 290 or 850 <= rate <= 950, 1000)
    assert 290 * 0.98 <= found <= 290


def test_a_search_ends_at_the_top_and_at_the_bottom():
    """All rates hold, or none."""
    assert highest(lambda _: True, 1000) == 1000
    assert highest(lambda _: False, 1000) == 0


def test_the_best_has_the_highest_rate_and_of_nearly_equal_ones_the_lowest_floor():
    """2 % is a tie; what keeps the goal at no rate is not ranked."""
    points = [point(64, 1000, floor_ms=9), point(32, 990, floor_ms=6), point(16, 900, floor_ms=5), point(8, 0)]
    assert [one.config.max_batch_size for one in ranked(points)] == [32, 64, 16]


def test_the_highest_qps_is_throughput_alone():
    """Of equal throughput, the lower p99; never mind the goal."""
    points = [point(8, 900, qps=1000), point(64, 10, qps=2000, qps_p99_ms=60), point(64, 0, qps=2001, qps_p99_ms=50)]
    assert highest_qps(points) is points[2]


def test_a_machine_is_calibrated_by_what_saturation_shows():
    """Excess of full batches over the curve is busy time; what is left of a lone request's is the way."""
    curve = Curve((1, 2, 4), (10 * MS, 12 * MS, 16 * MS))
    machine = Machine.calibrated(curve, [(1, 1e3 / 11), (4, 4e3 / 19)], lone_ns=5 * MS)
    assert machine.curve == Curve((1, 2, 4), (11 * MS, 13_666_667, 19 * MS))
    assert machine.way_ns == 4 * MS
    faster = Machine.calibrated(curve, [(4, 4e3 / 15)], lone_ns=5 * MS)
    assert faster == Machine(curve, 5 * MS)  # no batch is faster than its curve


def test_a_trace_is_played_at_any_rate(tmp_path):
    """The same arrivals, closer together."""
    path = tmp_path / "trace.txt"
    path.write_text("# unit: ms\n0\n10\n30\n100\n")
    traffic = Traffic(str(path))
    assert traffic.own_rate == pytest.approx(40)
    assert traffic.at(80, 1, 1).due_ns.tolist() == [0, 5 * MS, 15 * MS, 50 * MS]


@pytest.mark.parametrize("pattern", ["poissson", "on_off:rate=5", "gamma:shape=-1", "trace:path=/nowhere", "nowhere.txt"])
def test_traffic_that_cannot_be_played_is_refused(pattern):
    """By name, and a rate is no part of a pattern."""
    with pytest.raises(ScheduleError):
        Traffic(pattern).at(100, 1, 1)


def test_bursty_traffic_changes_the_answer():
    """The same machine and wall: other arrivals, another batch size, a lower rate; the highest QPS is never the answer."""
    answers = {}
    for pattern in ("poisson", "gamma:shape=0.05"):
        simulator = Simulator(Machine(CURVE), Traffic(pattern), Goal(25 * MS), 2.0, 1729)
        points = simulator.grid(grid_of((32, 64, 128), (5 * MS,), instances=4))
        answers[pattern] = ranked(points)[0]
        assert highest_qps(points).config.max_batch_size == 128
    steady, bursty = answers.values()
    assert (steady.config.max_batch_size, bursty.config.max_batch_size) == (64, 32)
    assert bursty.rate < 0.8 * steady.rate


def test_a_prediction_keeps_its_wall():
    """Just at the found rate p99 is under the wall, 3 % above it is not, and planning sees no chance above it."""
    simulator = Simulator(Machine(CURVE), Traffic(), Goal(30 * MS), 4.0, 7)
    config = BatcherConfig(max_batch_size=32)
    found = simulator.point(config, CURVE.limit(32))
    assert simulator.at(config, found.rate) == (found.p99_ns, found.batch)
    assert found.p99_ns <= 30 * MS < simulator.at(config, 1.03 * found.rate)[0]
    assert simulator.plan(config, 1.05 * found.rate, 8.0, 0.99) is None
    assert simulator.plan(config, 0.5 * found.rate, 8.0, 0.99) <= 2.0


# Who is to blame.


def test_blame_names_the_part():
    """The model, the delay, the capacity, the queue."""
    machine, goal = Machine(Curve((1, 8), (10 * MS, 20 * MS)), 1 * MS), Goal(15 * MS)
    held = [point(8, 0, floor_ms=11, p99_ms=17), point(4, 0, floor_ms=11, p99_ms=16)]
    assert "only a faster model" in blame(held, machine, Goal(5 * MS))
    assert "delay" in blame([point(8, 0, delay_ms=9, floor_ms=20)], machine, goal)
    assert "more instances" in blame(held, machine, goal, asked=5000)
    assert "queueing" in blame(held, machine, goal)
    assert nearest(held).config.max_batch_size == 4


# Tuning a target.

WISH = Wish(
    Goal(9 * MS),
    Traffic("gamma:shape=0.2"),
    DEVICE,
    max_batch=(8, 32),
    delays_ns=(0, 2 * MS),
    instances=4,
    seconds=8.0,
    simulated_s=3.0,
    candidates=1,
)
ONE = replace(WISH, max_batch=(8,), delays_ns=(2 * MS,))


def test_the_chosen_configuration_holds_where_the_highest_qps_breaks(bench):
    """Measured on the target at the same rate on the same arrivals, and predicted to the nanosecond."""
    result = tune(bench(), WISH)
    assert result["exit_status"] == 0
    chosen, qps = result["chosen"], result["highest_qps"]["at_chosen_rate"]
    assert (chosen["config"]["max_batch_size"], chosen["verdict"]) == (8, "PASS")
    assert (qps["config"]["max_batch_size"], qps["verdict"]) == (32, "FAIL")
    assert result["highest_qps"]["qps"] > 1.5 * chosen["rate"]
    assert chosen["p99_ns"] <= 9 * MS < qps["p99_ns"]
    assert (chosen["ratio"], qps["ratio"]) == (1.0, 1.0)
    written = BatcherConfig.from_pbtxt(result["pbtxt"])
    assert (written.max_batch_size, written.max_queue_delay_ns, written.instances) == (8, 2 * MS, 4)
    assert all(f"# {line}" in result["pbtxt"] for line in result["says"])
    json.dumps(result, default=str)


def test_nothing_holds_a_wall_below_one_request(bench):
    """Nothing is measured in vain; the model is to blame."""
    result = tune(bench(), replace(ONE, goal=Goal(4 * MS)))
    assert (result["exit_status"], result["verdict"], result["verified"], result["pbtxt"]) == (1, "FAIL", [], None)
    assert any("faster model" in line for line in result["says"])


def test_a_rate_beyond_capacity_is_said_so(bench):
    """With the most that can be served."""
    result = tune(bench(), replace(ONE, rate=50_000.0))
    assert (result["exit_status"], result["verified"]) == (1, [])
    assert any("more instances" in line for line in result["says"])


def test_too_short_a_verification_is_inconclusive(bench):
    """75, never a guess."""
    result = tune(bench(), replace(ONE, seconds=0.6))
    assert (result["exit_status"], result["verdict"], result["chosen"]) == (75, "INCONCLUSIVE", None)


def test_a_slower_target_than_its_curve_fails_its_verification(bench):
    """A batcher that naps after each batch holds nothing that its curve promises; the loss is told."""
    wish = replace(ONE, traffic=Traffic(), rate=100.0, instances=1, delays_ns=(0,), goal=Goal(20 * MS))
    assert tune(bench(), wish)["exit_status"] == 0
    result = tune(bench("mutant:naps"), wish)
    assert (result["exit_status"], result["chosen"]) == (1, None)
    assert "times the prediction" in result["says"][0]


def test_a_target_that_is_bad_at_delays_is_asked_without_one(bench, monkeypatch):
    """One configuration with a delay fails slower than simulated: the next one that is tried has none, and holds."""
    real = tuner.verify

    def verify(a_bench, served, simulator, config, *how):
        one = real(a_bench, served, simulator, config, *how)
        return replace(one, verdict="FAIL", p99_ns=2 * one.predicted_ns) if config.max_queue_delay_ns else one

    monkeypatch.setattr(tuner, "verify", verify)
    wish = replace(WISH, max_batch=(8, 16), delays_ns=(0, 2 * MS, 3 * MS), goal=Goal(12 * MS), candidates=3)
    result = tune(bench(), wish)
    delays = list(dict.fromkeys(one["config"]["max_queue_delay_ns"] > 0 for one in result["verified"]))
    sorts = {(one["config"]["max_batch_size"], one["config"]["max_queue_delay_ns"]) for one in result["verified"]}
    assert delays == [True, False]
    assert len([delay_ns for _, delay_ns in sorts if delay_ns]) == 1
    assert (result["exit_status"], result["chosen"]["config"]["max_queue_delay_ns"]) == (0, 0)


def test_a_run_that_is_invalid_twice_is_no_verdict(bench, monkeypatch):
    """INVALID, with the reasons, and 75."""
    real = tuner.open_loop

    def noisy(*arguments, **more):
        run = real(*arguments, **more)
        return replace(run, validity=replace(run.validity, reasons=("the host stalled",)))

    monkeypatch.setattr(tuner, "open_loop", noisy)
    result = tune(bench(), replace(ONE, traffic=Traffic(), rate=400.0, seconds=1.0))
    assert result["exit_status"] == 75
    assert result["verified"][0]["verdict"] == "INVALID"
    assert result["verified"][0]["reasons"] == ("the host stalled",)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget_ms": 100.0}, "leaves nothing"),
        ({"work": "toaster"}, "accelerator"),
        ({"max_batch": "8,x"}, "numbers"),
        ({"max_batch": "0"}, "from 1"),
        ({"traffic": "poissson"}, "poissson"),
        ({"traffic": "on_off:rate=3"}, "rate"),
    ],
)
def test_misuse_is_said_in_one_line(options, message, capsys):
    """Exit status 2, nothing started."""
    assert run_tune(TuneOptions(**{"target": "no-such-target", **options})) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_the_command_writes_the_configuration(tmp_path):
    """A record with its footer, config.pbtxt, and the reasons on the console."""
    console = Console(record=True, width=120, file=io.StringIO())
    options = TuneOptions(
        "virtual", 200.0, 50.0, rate=80.0, max_batch="8", max_delay_ms="0", quick=True, seconds=20.0,
        out=tmp_path / "config.pbtxt", report=tmp_path / "report",
    )  # fmt: skip
    assert run_tune(options, console) == 0
    assert BatcherConfig.from_pbtxt((tmp_path / "config.pbtxt").read_text()).max_batch_size == 8
    assert "Shown with 99% confidence" in console.export_text()
    lines = [json.loads(line) for line in (tmp_path / "report" / "bench.jsonl").read_text().splitlines()]
    assert [line["type"] for line in lines] == ["header", "measurement", "footer"]
    assert lines[1]["measurement"] == "tune"
    assert lines[0]["command"].startswith("batchproof tune --target virtual")
