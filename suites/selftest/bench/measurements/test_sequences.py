"""Sequences, in simulated time: the figures are exact, and they change when the batcher is wrong."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from batchproof.bench.calibration import calibrated
from batchproof.bench.each_work import Works
from batchproof.bench.figures.sequences import figures
from batchproof.bench.measurements import naive, sequences
from batchproof.bench.plan import by_name
from batchproof.bench.tables.sequences import tables
from batchproof.load.workload import MS, WORKS, Skipped, Work

if TYPE_CHECKING:
    from collections.abc import Callable

    from batchproof.bench.measurement import Bench
    from batchproof.bench.measurements.sequences import Held, Stateful

NO_GAIN = Work("serial", "a device that takes 1 ms a row", 0, MS)


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the pairs: in simulated time there is no noise that longer ones would average out."""
    monkeypatch.setattr(naive, "SLICE_S", (0.3, 0.3))
    monkeypatch.setattr(sequences, "COUNTS", ((1, 4, 8, 16), (1, 4, 8, 16)))


def measured(bench: Bench) -> Stateful:
    """Measure the only work."""
    (work,) = bench.works
    return sequences.of_work(bench, partial(calibrated, bench), work)


def held(found: Stateful, strategy: str, count: float) -> Held:
    """Return a closed loop with sequences of one length."""
    return next(
        one for one in found.held if (one.strategy, one.lengths, one.sequences, one.load) == (strategy, "fixed", count, 0)
    )


def test_steps_share_runs(bench: Callable[..., Bench]) -> None:
    """With either strategy: one sequence takes tau(1) a step, and as many as there are slots nearly reach the limit."""
    found = measured(bench())

    assert (found.verdict, found.reasons) == ("PASS", ())
    for strategy in ("direct", "oldest"):
        one, full, crowd = (held(found, strategy, count) for count in (1, 8, 16))
        assert math.isclose(one.run.throughput, 1e9 / 21_250_000, rel_tol=0.02)
        assert 0.95 < full.run.throughput / found.limit_per_s <= 1
        assert math.isclose(full.run.throughput, crowd.run.throughput, rel_tol=0.02)
        assert one.filled == 1 / 8
        assert (one.run.latency_ns(50), full.run.latency_ns(50)) == (21_250_000, 30 * MS)


def test_a_batcher_that_serves_one_sequence_at_a_time_fails(bench: Callable[..., Bench]) -> None:
    """The gate says so for the strategy that it is about."""
    found = measured(bench("mutant:oldest-one-at-a-time"))

    assert found.verdict == "FAIL"
    assert {one.strategy: one.conclusion.verdict for one in found.gains}["oldest"] == "FAIL"


def test_a_model_that_cannot_gain_is_not_judged(bench: Callable[..., Bench]) -> None:
    """There is no verdict, and the headline says why."""
    found = measured(bench(works=(NO_GAIN,)))

    assert found.verdict == ""
    assert "cannot gain from batching (ceiling 1.00x)" in found.says


def test_stalls_leave_no_figures(bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch) -> None:
    """With every run invalid there is no rate, no latency and no FAIL."""
    made = sequences.keep_open

    def stalled(*asked: Any, **more: Any) -> Any:
        run, filled = made(*asked, **more)
        return replace(run, validity=replace(run.validity, reasons=("the host stalled",))), filled

    monkeypatch.setattr(sequences, "keep_open", stalled)
    found = measured(bench("mutant:oldest-one-at-a-time"))
    told = Works({"w": found}, {})

    assert found.verdict != "FAIL"
    assert not found.valid
    assert not any(one.valid for one in figures(told) if one.name.startswith(("sequences.", "steps.")))
    gains, closed, _ = tables(told)
    assert [row[2:5] for row in gains.rows] == [[None] * 3] * 2
    assert [list(row[3:]) for row in closed.rows] == [[False, *[None] * 5]] * len(closed.rows)
    assert all("discarded" in one for one in found.facts()["gains"])


def test_one_strategy_is_enough(bench: Callable[..., Bench]) -> None:
    """A stack is measured with what it claims; one without sequences is not."""
    one = bench()
    info = one.target.info
    one.target.info = replace(info, claims={**info.claims, "sequences": "oldest"})
    assert sequences.strategies(one) == ("oldest",)
    one.target.info = replace(info, claims={**info.claims, "sequences": False})
    assert by_name()["sequences"].lacks(one.target.info) == f"{info.name} does not claim sequences"


def test_a_torch_model_has_no_state(bench: Callable[..., Bench]) -> None:
    """It is left out with the reason."""
    with pytest.raises(Skipped, match="only the witness is served as a model of sequences"):
        measured(bench(works=(WORKS["mlp"],)))
