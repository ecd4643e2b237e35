"""What a bench asks of a target that cannot have every value, and what it says about that before it begins."""

from __future__ import annotations

import io
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from batchproof.bench.calibration import calibrated
from batchproof.bench.fit import another_way, departures, fitted
from batchproof.bench.fleet import together
from batchproof.bench.measurements import isolation, naive, overload, sweep
from batchproof.bench.plan import MEASUREMENTS
from batchproof.bench.run import Options, run
from batchproof.bench.tune.search import Goal, Traffic
from batchproof.bench.tune.tune import tune
from batchproof.bench.tune.verification import Objective
from batchproof.load.workload import MS, WORKS
from batchproof.reference_batcher import BatcherConfig
from batchproof.targets import resolve

if TYPE_CHECKING:
    from collections.abc import Callable

    from batchproof.bench.measurement import Bench

NARROW = "batchproof.suites.selftest.narrow:"
ACCELERATOR = WORKS["accelerator"]


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the runs: in simulated time there is no noise that longer runs would average out."""
    monkeypatch.setattr(sweep, "CLOSED_S", (0.75, 0.75))
    monkeypatch.setattr(sweep, "OPEN_S", ((1.5, 2.5), (1.5, 2.5)))
    monkeypatch.setattr(naive, "SLICE_S", (0.3, 0.3))


@pytest.mark.parametrize(
    ("claims", "asked", "got", "told"),
    [
        ({"delay": True}, (1, 0), (1, 0), ()),
        ({"delay": True, "smallest_batch": 2}, (1, 0), (2, 0), ("a max_batch_size of 2 stands in for smaller ones",)),
        ({}, (4, 5), (4, 0), ("no queue delay is set, because none is claimed",)),
        ({"delay": True, "smallest_delay_ms": 1}, (4, 0), (4, 1), ("a queue delay of 1 ms stands in for none",)),
        ({"delay": True, "batches_without_delay": False}, (1, 0), (1, 0), ("a queue delay of 10 ms stands in for none",)),
        ({"delay": True, "batches_without_delay": False}, (4, 0), (4, 10), ("a queue delay of 10 ms stands in for none",)),
        ({"delay": True, "batches_without_delay": False}, (4, 5), (4, 5), ("a queue delay of 10 ms stands in for none",)),
    ],
)
def test_the_nearest_configuration_is_asked_for(
    claims: dict[str, Any], asked: tuple[int, int], got: tuple[int, int], told: tuple[str, ...]
) -> None:
    """It has the smallest batch and delay that there are, and whatever differs is said."""
    config = fitted(BatcherConfig(max_batch_size=asked[0], max_queue_delay_ns=asked[1] * MS), claims)

    assert (config.max_batch_size, config.max_queue_delay_ns // MS) == got
    assert departures(claims) == told


@pytest.mark.parametrize(
    ("name", "sizes", "delays_ms"),
    [
        ("SixOrMore", {6, 16}, {0, 5, 25}),
        ("NoKnob", {1, 4, 16}, {0}),
        ("ZeroMeansDefault", {1, 4, 16}, {1, 5, 25}),
        ("BatchesWithDelay", {1, 4, 16}, {0, 5, 10, 25}),
    ],
)
def test_a_sweep_has_the_points_that_there_are(
    bench: Callable[..., Bench], name: str, sizes: set[int], delays_ms: set[int]
) -> None:
    """Each point is measured once, and the gate compares with the smallest batch that the target can have."""
    one = bench(NARROW + name)
    found = sweep.of_work(one, partial(calibrated, one), ACCELERATOR)

    assert {point.size for point in found.closed} == sizes
    assert {point.config.max_queue_delay_ns // MS for point in found.closed} == delays_ms
    assert len({point.config for point in found.closed}) == len(found.closed)
    assert (found.verdict, found.best.size, found.smallest.size) == ("PASS", 16, min(sizes))
    assert (", 6" in found.says) == (min(sizes) == 6)


def test_the_gate_asks_for_no_more_than_the_curve_allows(
    bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sweep from six to seven rows is not judged by a gate that its curve cannot pass, and one of six alone is skipped."""
    one = bench(NARROW + "SixOrMore")
    monkeypatch.setattr(sweep, "SIZES", ((1,), (1, 7)))
    monkeypatch.setattr(sweep, "GATE", 1.2)
    found = sweep.of_work(one, partial(calibrated, one), ACCELERATOR)

    assert (found.verdict, 1 < found.ceiling < 1.2) == ("", True)
    monkeypatch.setattr(sweep, "SIZES", ((1,), (1, 4)))
    with pytest.raises(sweep.Skipped, match="has no batches smaller than 6 to compare with"):
        sweep.of_work(one, partial(calibrated, one), ACCELERATOR)


@pytest.mark.parametrize("name", ["SixOrMore", "NoKnob", "ZeroMeansDefault", "BatchesWithDelay"])
def test_what_compares_batches_works_on_a_target_that_cannot_have_every_value(
    bench: Callable[..., Bench], name: str
) -> None:
    """One request at a time, two models and overload: each has a result, and batching pays."""
    one = bench(NARROW + name)
    calibrate = partial(calibrated, one)

    assert naive.measure(one, calibrate).verdict == "PASS"
    for measure in (isolation.measure, overload.measure):
        found = measure(one, calibrate)
        assert found.valid, found.reasons


def test_equal_configurations_are_deployed_one_by_one(bench: Callable[..., Bench]) -> None:
    """Two models of one configuration are two models, also where a target deploys several at once."""
    one = bench("reference")
    config = BatcherConfig(max_batch_size=4)
    with together(one, ACCELERATOR, (config, config)) as serve, serve(config) as first, serve(config) as second:
        assert first.deployment.inner is not second.deployment.inner


def test_what_is_left_out_is_said_first(tmp_path: Path) -> None:
    """Before anything is measured, a line says what cannot be and why; those measurements are SKIPPED with that reason."""
    said = io.StringIO()
    options = Options(NARROW + "Alone", quick=True, only="naive,sweep", report=tmp_path / "out")
    status = run(options, Console(file=said, highlight=False, soft_wrap=True))
    lines = said.getvalue().splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("batchproof bench of"))

    assert status == 5
    assert lines[place + 1] == "left out: naive, sweep, because Alone does not claim batches of several requests"
    assert lines[place + 2] == "fitted to what Alone claims: no queue delay is set, because none is claimed"
    assert sum("SKIPPED" in line and "does not claim batches of several requests" in line for line in lines) == 2


def test_a_target_that_batches_only_with_a_delay_lacks_nothing() -> None:
    """It has batches, so that all measurements are made."""
    info = resolve(NARROW + "BatchesWithDelay").info

    assert [one.lacks(info) for one in MEASUREMENTS] == [""] * len(MEASUREMENTS)


def test_a_loss_against_the_simulator_may_be_how_the_target_works(bench: Callable[..., Bench]) -> None:
    """Where a claim says that batches form in another way than in the simulator, a finding says so."""
    assert another_way({"late_binding": False}) == "late_binding = false"
    assert another_way({"delay_anchor": "loop-entry"}) == "delay_anchor = loop-entry"
    assert another_way({"delay": True}) == another_way({"delay_anchor": "oldest-enqueue"}) == ""

    one = bench(NARROW + "FirstDequeue")
    found = sweep.of_work(one, partial(calibrated, one), ACCELERATOR)

    assert found.caveat == (
        "the target claims delay_anchor = first-dequeue, and the simulator forms batches in another way"
        if found.findings
        else ""
    )


def test_tune_tries_only_what_there_is(bench: Callable[..., Bench]) -> None:
    """No candidate has a batch or a delay that the target cannot have."""
    one = bench(NARROW + "ZeroMeansDefault")
    objective = Objective(Goal(90 * MS), Traffic(), ACCELERATOR, max_batch=(4, 8), delays_ns=(0, 2 * MS), seconds=2.0)
    found = tune(one, partial(calibrated, one), objective)

    assert {forecast.config.max_queue_delay_ns // MS for forecast in found.forecasts} == {1, 2}
