"""A target against its oracle: one that loses time is named, and an invalid run decides nothing."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from batchproof.bench.oracle import target_validation as validation
from batchproof.bench.oracle.prediction import Assessment
from batchproof.load.runs import Run, closed_loop, open_loop
from batchproof.load.validity import Validity
from batchproof.reference_batcher import BatcherConfig
from batchproof.targets.protocol import Request
from batchproof.targets.verbs import full
from batchproof.targets.virtual import VirtualTarget

MS = 1_000_000


class _Slow:
    """A model that takes half as long again as it is asked to."""

    def __init__(self) -> None:
        self.info = VirtualTarget().info

    def deploy(self, config: BatcherConfig) -> Any:
        inner = VirtualTarget().deploy(config)

        def submit(one: Request) -> Future[Any]:
            slow = replace(one.payload, work_ns=one.payload.work_ns * 3 // 2, row_work_ns=one.payload.row_work_ns * 3 // 2)
            return inner.submit(replace(one, payload=slow))

        return SimpleNamespace(submit=submit, clock=inner.clock, close=inner.close)


def test_only_a_target_that_loses_time_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Each is calibrated, loaded and simulated: the virtual target is as predicted, and one that loses a third is named."""
    good = list(validation.validated(VirtualTarget(), base_ns=2 * MS, row_ns=MS // 5, seconds=0.5))
    slow = next(validation.validated(_Slow(), base_ns=2 * MS, row_ns=MS // 5, seconds=0.5))

    assert [one.load for one in good] == ["16 clients", "load 0.3", "load 0.6", "load 0.8", "load 0.9"] * 2
    assert [one.delay_ns for one in good] == [0] * 5 + [MS] * 5
    assert {one.assessment.verdict for one in good} == {"PASS"}
    assert {one.overrun_ns // 1000 for one in good} == {one.overhead_ns // 1000 for one in good} == {0}
    assert (slow.assessment.verdict, slow.assessment.finding.partition(":")[0]) == ("FAIL", "loses 33% somewhere")

    for target, verdict in ((VirtualTarget, "PASS"), (_Slow, "FAIL")):
        monkeypatch.setattr(validation, "resolve", lambda _word, target=target: full(target()))
        monkeypatch.setattr(validation, "DELAY_SHARES", (0.0,))
        assert verdict in validation.print_table(base_ms=2, row_ms=0.2, seconds=0.3)
    assert "FAIL" in capsys.readouterr().out


def test_an_invalid_calibration_decides_nothing() -> None:
    """A prediction from an invalid calibration means nothing."""
    found = Assessment("FAIL", "", "loses 30%", 0.3, 0.05, {}, {}, {})
    good, bad = (cast("Run", SimpleNamespace(valid=valid)) for valid in (True, False))

    assert validation.trusted(found, good) == found
    assert (validation.trusted(found, good, bad).verdict, validation.trusted(found, bad).finding) == ("INCONCLUSIVE", "")


@pytest.mark.parametrize(("noisy", "verdict"), [(2, "PASS"), (9, "INCONCLUSIVE")])
def test_an_invalid_run_is_repeated_only_so_often(monkeypatch: pytest.MonkeyPatch, noisy: int, verdict: str) -> None:
    """The first valid run is judged. If all runs are invalid, nothing is judged."""
    monkeypatch.setattr(validation, "ATTEMPTS", 3)
    made = {"open": 0, "closed": 0}

    def disturbed(run: Run) -> Run:
        made[run.kind] += 1
        return replace(run, validity=Validity(("noise",))) if made[run.kind] <= noisy else run

    monkeypatch.setattr(validation, "open_loop", lambda *given, **more: disturbed(open_loop(*given, **more)))
    monkeypatch.setattr(validation, "closed_loop", lambda *given, **more: disturbed(closed_loop(*given, **more)))

    found = next(validation.validated(VirtualTarget(), base_ns=2 * MS, row_ns=MS // 5, seconds=0.3))

    assert (found.assessment.verdict, made) == (verdict, {"open": 3, "closed": 3})
