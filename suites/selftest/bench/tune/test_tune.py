"""Tuning a target, in virtual time: the result is exact, and it changes when the batcher is wrong."""

import json
from dataclasses import replace
from functools import partial

import pytest

from batchproof.bench.calibration import calibrated
from batchproof.bench.tune import tune as tuner
from batchproof.bench.tune import verification
from batchproof.bench.tune.search import Goal, Traffic
from batchproof.bench.tune.tables import tables
from batchproof.bench.tune.verification import Objective
from batchproof.load.workload import MS, Work
from batchproof.reference_batcher import BatcherConfig

DEVICE = Work("device", "4 ms + 0.25 ms a row", 4 * MS, MS // 4)
pytestmark = pytest.mark.usefixtures("longer")


def tuned(bench, objective):
    """Tune, and return the line of bench.jsonl."""
    result = tuner.measure(bench, partial(calibrated, bench), objective)
    grid, verified = tables(result.found)
    assert (len(grid.rows), len(verified.rows)) >= (1, len(result.found.tried))
    return result.facts()


OBJECTIVE = Objective(
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
ONE = replace(OBJECTIVE, max_batch=(8,), delays_ns=(2 * MS,))


def test_the_chosen_configuration_holds_where_the_highest_qps_breaks(bench):
    """Both are measured on the target at the same rate with the same arrivals, and predicted to the nanosecond."""
    result = tuned(bench(), OBJECTIVE)
    assert result["verdict"] == "PASS"
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


def test_no_configuration_keeps_a_budget_below_one_request(bench):
    """Nothing is measured in vain, and the model is blamed."""
    result = tuned(bench(), replace(ONE, goal=Goal(4 * MS)))
    assert (result["verdict"], result["verified"], result["pbtxt"]) == ("FAIL", [], None)
    assert any("faster model" in line for line in result["says"])


def test_a_rate_beyond_capacity_is_refused(bench):
    """The message gives the highest rate that can be served."""
    result = tuned(bench(), replace(ONE, rate=50_000.0))
    assert (result["verdict"], result["verified"]) == ("FAIL", [])
    assert any("more instances" in line for line in result["says"])


def test_too_short_a_verification_is_inconclusive(bench):
    """The verdict is INCONCLUSIVE, never a guess."""
    result = tuned(bench(), replace(ONE, seconds=0.6))
    assert (result["verdict"], result["chosen"]) == ("INCONCLUSIVE", None)


def test_a_slower_target_than_its_curve_fails_its_verification(bench):
    """A batcher that pauses after each batch serves nothing that its curve promises, and the loss is reported."""
    objective = replace(ONE, traffic=Traffic(), rate=100.0, instances=1, delays_ns=(0,), goal=Goal(20 * MS))
    assert tuned(bench(), objective)["verdict"] == "PASS"
    result = tuned(bench("mutant:naps"), objective)
    assert (result["verdict"], result["chosen"]) == ("FAIL", None)
    assert "times the prediction" in result["says"][0]


def test_a_target_that_is_bad_at_delays_is_tried_without_one(bench, monkeypatch):
    """A configuration with a delay is slower than simulated, so the next one that is tried has no delay, and holds."""
    real = tuner.verify

    def verify(a_bench, served, simulator, config, *how):
        one = real(a_bench, served, simulator, config, *how)
        return replace(one, verdict="FAIL", p99_ns=2 * one.predicted_ns) if config.max_queue_delay_ns else one

    monkeypatch.setattr(tuner, "verify", verify)
    objective = replace(OBJECTIVE, max_batch=(8, 16), delays_ns=(0, 2 * MS, 3 * MS), goal=Goal(12 * MS), candidates=3)
    result = tuned(bench(), objective)
    delays = list(dict.fromkeys(one["config"]["max_queue_delay_ns"] > 0 for one in result["verified"]))
    sorts = {(one["config"]["max_batch_size"], one["config"]["max_queue_delay_ns"]) for one in result["verified"]}
    assert delays == [True, False]
    assert len([delay_ns for _, delay_ns in sorts if delay_ns]) == 1
    assert (result["verdict"], result["chosen"]["config"]["max_queue_delay_ns"]) == ("PASS", 0)


def test_a_run_that_is_invalid_twice_is_no_verdict(bench, monkeypatch):
    """The run is INVALID, with the reasons, and the result as a whole is INCONCLUSIVE."""
    real = verification.open_loop

    def noisy(*arguments, **more):
        run = real(*arguments, **more)
        return replace(run, validity=replace(run.validity, reasons=("the host stalled",)))

    monkeypatch.setattr(verification, "open_loop", noisy)
    result = tuned(bench(), replace(ONE, traffic=Traffic(), rate=400.0, seconds=1.0))
    assert result["verdict"] == "INCONCLUSIVE"
    assert result["verified"][0]["verdict"] == "INVALID"
    assert result["verified"][0]["reasons"] == ("the host stalled",)
