"""What every measurement is given, and what it returns."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from typing import TYPE_CHECKING, Any

import pytest

from batchproof.bench import measurement
from batchproof.bench.measurement import NotSpreadable
from batchproof.bench.result import Result
from batchproof.load.runs import closed_loop
from batchproof.load.schedule import constant
from batchproof.load.workload import WORKS
from batchproof.reference_batcher import BatcherConfig
from batchproof.targets.kit.routes import Route

if TYPE_CHECKING:
    from collections.abc import Callable

    from batchproof.bench.measurement import Bench

ACCELERATOR = WORKS["accelerator"]


def test_the_quick_form_repeats_nothing_once_it_is_late(bench: Callable[..., Bench]) -> None:
    """An invalid measurement is repeated while there is time; a valid one never is."""
    early, made = bench(), []
    with early.serve(ACCELERATOR, BatcherConfig()) as served:
        good = closed_loop(served.submit, served.clock, 1, wait_ns=10**9, requests=2)
    bad = replace(good, validity=replace(good.validity, reasons=("noise",)))

    assert early.valid(lambda: made.append(1) or good) is good
    assert len(made) == 1
    early.valid(lambda: made.append(1) or bad)
    assert len(made) == 1 + measurement.ATTEMPTS[1]
    late = replace(early, started=early.started - measurement.PATIENT_S[1])
    late.valid(lambda: made.append(1) or bad)
    assert len(made) == 2 + measurement.ATTEMPTS[1]


class Sends:
    """A crew that keeps what it was asked for."""

    def open_loop(self, *asked: Any, **more: Any) -> Any:
        """Keep it."""
        return asked, more


def test_with_a_crew_open_loops_are_its_affair(bench: Callable[..., Bench]) -> None:
    """It gets the way to the model and what each request asks of it; without a crew this process sends."""
    alone, arrivals, route = bench(), constant(100, 1), Route("http", "http://127.0.0.1:1", "/")
    with alone.serve(ACCELERATOR, BatcherConfig()) as served:
        assert alone.open_loop(served, arrivals).samples.count == 100
        served.deployment.route = route
        asked, more = replace(alone, crew=Sends()).open_loop(served, arrivals, slo_ns=5)  # type: ignore[arg-type]

    assert (asked, more.pop("wait_ns")) == ((route, arrivals), alone.wait_ns)
    assert more == {"payload": {"work_ns": ACCELERATOR.base_ns, "row_work_ns": ACCELERATOR.row_ns}, "slo_ns": 5}


def test_a_crew_cannot_send_to_what_is_not_on_the_network(bench: Callable[..., Bench]) -> None:
    """The bench ends, and says what to leave out."""
    lonely = replace(bench(), crew=Sends())  # type: ignore[arg-type]

    with pytest.raises(NotSpreadable, match=r"--workers: .* is not reached over the network, .*; leave --workers out"):
        lonely.serve(ACCELERATOR, BatcherConfig())


def test_a_measurement_leaves_nothing_on_the_bench(bench: Callable[..., Bench]) -> None:
    """What one measurement needs from another is passed to it, because a bench cannot be written to."""
    with pytest.raises(FrozenInstanceError):
        bench().seed = 1  # type: ignore[misc]


def test_a_result_without_figures_has_a_line() -> None:
    """The result is not valid, and its headline is the reason."""
    assert Result.nothing("no price").facts() == {
        "valid": False, "partly": False, "reasons": ["no price"], "verdict": "", "headline": "no price",
    }
