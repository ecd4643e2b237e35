"""One request at a time against dynamic batching, in simulated time: the figures are exact, and they are judged."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from batchproof.bench.calibration import calibrated
from batchproof.bench.measurements import naive
from batchproof.bench.tables.naive import tables
from batchproof.load.workload import MS, WORKS, Work

if TYPE_CHECKING:
    from collections.abc import Callable

    from batchproof.bench.measurement import Bench
    from batchproof.bench.result import Result

ACCELERATOR = WORKS["accelerator"]
BASE_NS, ROW_NS = ACCELERATOR.base_ns, ACCELERATOR.row_ns
NO_GAIN = Work("serial", "a device that takes 1 ms a row", 0, MS)


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the runs: in simulated time there is no noise that longer runs would average out."""
    monkeypatch.setattr(naive, "SLICE_S", (0.3, 0.3))


def measured(bench: Bench) -> Result:
    """Calibrate and measure."""
    return naive.measure(bench, partial(calibrated, bench))


def test_dynamic_batching_beats_one_at_a_time(bench: Callable[..., Bench]) -> None:
    """The simulated batcher passes and stays below its ceiling; one request at a time takes exactly tau(1)."""
    one = measured(bench()).facts()["works"]["accelerator"]

    assert one["verdict"] == "PASS"
    assert math.isclose(one["naive_per_s"], 1e9 / (BASE_NS + ROW_NS), rel_tol=0.02)
    assert 0.9 * one["ceiling"] < one["ratio_low"] <= one["ratio"] <= one["ceiling"]


def test_a_batcher_that_never_batches_fails_the_gate(bench: Callable[..., Bench]) -> None:
    """It fails although its clients keep the instance busy: the gate compares with what one request at a time could have."""
    assert measured(bench("mutant:never-batches")).verdict == "FAIL"


def test_a_model_that_cannot_gain_is_not_judged(bench: Callable[..., Bench]) -> None:
    """The ceiling is computed first. The headline says so, and there is no verdict."""
    one = measured(bench(works=(NO_GAIN,)))

    assert one.verdict == ""
    assert "cannot gain from batching (ceiling 1.00x)" in one.headline


def test_stalls_cause_neither_a_pass_nor_a_fail(bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch) -> None:
    """With every pair invalid, a FAIL becomes INCONCLUSIVE, a PASS stays as a lower bound, and no rate is a result."""
    made = naive._slice

    def stalled(*arguments: Any) -> Any:
        run = made(*arguments)
        return replace(run, validity=replace(run.validity, reasons=("the host stalled",)))

    monkeypatch.setattr(naive, "_slice", stalled)
    good, bad = (measured(bench(name)) for name in ("virtual", "mutant:never-batches"))

    assert (good.verdict, bad.verdict) == ("PASS", "INCONCLUSIVE")
    for one in (good, bad):
        facts = one.facts()["works"]["accelerator"]
        assert "discarded" in facts
        assert "ratio" not in facts
        assert tables(one.found)[0].rows[0][1:4] == [None, None, None]  # type: ignore[arg-type]
