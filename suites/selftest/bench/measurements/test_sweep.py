"""A sweep in simulated time: every point equals the oracle's, and the best one is named."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from batchproof.bench.calibration import Calibration, calibrated
from batchproof.bench.measurements import sweep
from batchproof.bench.oracle.prediction import Assessment
from batchproof.bench.service_time import SIZES, Timed
from batchproof.load.runs import closed_loop
from batchproof.load.workload import MS, WORKS, Work
from batchproof.reference_batcher import BatcherConfig

if TYPE_CHECKING:
    from collections.abc import Callable

    from batchproof.bench.measurement import Bench
    from batchproof.bench.result import Result

ACCELERATOR = WORKS["accelerator"]
BASE_NS, ROW_NS = ACCELERATOR.base_ns, ACCELERATOR.row_ns
NO_GAIN = Work("serial", "a device that takes 1 ms a row", 0, MS)
UNKNOWN = Assessment("INCONCLUSIVE", "", "", None, 0.05, {}, {}, {})


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the runs: in simulated time there is no noise that longer runs would average out."""
    monkeypatch.setattr(sweep, "CLOSED_S", (0.75, 0.75))
    monkeypatch.setattr(sweep, "OPEN_S", ((1.5, 2.5), (1.5, 2.5)))


def measured(bench: Bench) -> Result:
    """Calibrate and measure."""
    return sweep.measure(bench, partial(calibrated, bench))


def test_sweep_is_what_the_oracle_says(bench: Callable[..., Bench]) -> None:
    """Every point equals the oracle's to the nanosecond, and the largest batch wins by more than the gate."""
    one = measured(bench()).facts()["works"]["accelerator"]

    assert len(one["closed"]) == len(sweep.SIZES[1]) * len(sweep.DELAYS_NS[1]) >= 9
    assert len(one["open"]) == len(sweep.FRACTIONS)
    assert all(row["clients"] == 2 * row["config"]["max_batch_size"] for row in one["closed"])
    for row in one["open"]:
        assert row["oracle"]["measured"]["mean_ns"] == row["oracle"]["predicted"]["mean_ns"]
        assert row["oracle"]["measured"]["p99_ns"] == row["oracle"]["predicted"]["p99_ns"]
    assert all(math.isclose(row["oracle"]["ratios"]["throughput"], 1, abs_tol=0.01) for row in one["closed"])
    assert (one["verdict"], one["best"]["max_batch_size"], one["findings"]) == ("PASS", 16, [])


def test_a_target_slower_than_its_oracle_is_named(bench: Callable[..., Bench]) -> None:
    """When the curve promises 30 % less time than the target takes, the sweep says how much is lost, and where."""
    promised = [(rows, (BASE_NS + ROW_NS * rows) * 7 // 10) for rows in SIZES]
    fast = Calibration(ACCELERATOR, tuple(Timed(rows, (tau_ns,), (tau_ns,)) for rows, tau_ns in promised))

    one = sweep.of_work(bench(), lambda _work: fast, ACCELERATOR)

    assert len(one.findings) >= 9
    assert "loses 30% somewhere" in " ".join(one.findings)
    assert "loses" in one.says


def test_a_model_that_cannot_gain_is_not_judged(bench: Callable[..., Bench]) -> None:
    """The headline says so, and there is no verdict."""
    one = measured(bench(works=(NO_GAIN,)))

    assert one.verdict == ""
    assert "cannot gain" in one.headline


@pytest.mark.parametrize(
    ("times", "best", "told"),
    [(1, 16, "x the smallest batch"), (2, 4, "x the smallest batch (of 6 VALID points, 3 INVALID)")],
)
def test_the_best_of_the_valid_points_says_that_some_are_missing(
    bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch, times: int, best: int, told: str
) -> None:
    """An INVALID point is measured again after the others. If it stays INVALID, the best is the best of the others."""
    made, seen = sweep._saturate, []

    def stalled(bench: Bench, served: Any, config: BatcherConfig, calibration: Calibration) -> sweep.Observed:
        point = made(bench, served, config, calibration)
        seen.append(config)
        spoilt = replace(point.run, validity=replace(point.run.validity, reasons=("the host stalled",)))
        return replace(point, run=spoilt) if config.max_batch_size == 16 and seen.count(config) <= times else point

    monkeypatch.setattr(sweep, "_saturate", stalled)
    one = measured(bench())

    assert one.verdict == "PASS"
    assert f"best batch {best}" in one.headline
    assert one.headline.endswith(told)
    assert len(seen) == 9 + 3


def test_larger_batches_that_are_unknown_do_not_fail(
    bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a host spoils the runs of larger batches, the smallest one is compared with itself, which says nothing."""
    found = sweep.of_work(one := bench(), partial(calibrated, one), ACCELERATOR)
    monkeypatch.setattr(sweep, "judged", lambda *_runs: sweep.gates.figure(1.0, sweep.at_least(sweep.GATE)))
    spoilt = replace(found.best.run, validity=replace(found.best.run.validity, reasons=("the host stalled",)))
    closed = tuple(replace(point, run=spoilt) if point.size > 1 else point for point in found.closed)

    assert found.verdict == "FAIL"
    assert replace(found, closed=closed).verdict == "INCONCLUSIVE"


def test_of_nearly_equal_points_the_smallest_batch_and_delay_win(bench: Callable[..., Bench]) -> None:
    """Among points within 1 % of each other, the smallest batch and the shortest delay are the best."""
    config = BatcherConfig(max_batch_size=8)
    with bench().serve(ACCELERATOR, config) as served:
        run_ = closed_loop(served.submit, served.clock, 16, wait_ns=10**9, seconds=2.4)
    points = [sweep.Observed(replace(config, max_batch_size=size), {}, run_, {}, UNKNOWN, 0.0) for size in (32, 8, 16)]

    assert sweep.best_of(points).size == 8
    assert sum(sweep.windows(run_)) / 8 == pytest.approx(run_.throughput, rel=0.01)
    assert sweep.judged(run_, run_).verdict == "FAIL"
