"""What is known of a target before other measurements: exact in simulated time, and refused when it is not certain."""

from __future__ import annotations

from concurrent.futures import Future
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from batchproof.bench import calibration
from batchproof.bench.calibration import Calibration, calibrated, saturation
from batchproof.bench.measurement import Bench
from batchproof.bench.service_time import Timed
from batchproof.load.workload import MS, WORKS, Served, Unmeasured
from batchproof.reference_batcher import BatcherConfig
from batchproof.reference_batcher.virtual import VirtualClock
from batchproof.targets.verbs import full

if TYPE_CHECKING:
    from collections.abc import Callable

ACCELERATOR = WORKS["accelerator"]


def test_the_overhead_is_what_a_client_waits_beyond_the_model() -> None:
    """It is the median over all sizes, and never negative, because a clock may be coarse."""
    slow = Calibration(ACCELERATOR, (Timed(1, (100, 90), (150, 160)), Timed(2, (120,), (190,)), Timed(4, (160,), (200,))))
    odd = Calibration(ACCELERATOR, (Timed(1, (100,), (99,)),))

    assert (slow.overhead_ns, slow.fastest_ns, slow.left_out) == (60, 90, (8, 16, 32, 64, 128))
    assert odd.overhead_ns == 0


def test_an_uncertain_time_is_not_a_result() -> None:
    """A curve with an interval that spans more than a quarter is not valid, and says at which sizes."""
    noisy = Calibration(ACCELERATOR, (Timed(1, tuple(range(1000, 3000, 100)), (2000,)), Timed(8, (4000,) * 20, (4000,))))

    assert not noisy.valid
    assert noisy.reasons == ("tau of 1 rows is uncertain by more than 25%",)


def test_a_calibration_belongs_to_its_work(bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch) -> None:
    """It is measured on the bench that asked for it, and leaves nothing there."""
    monkeypatch.setattr(calibration, "service_times", lambda a_bench, work: (Timed(1, (a_bench.seed,), (work.row_ns,)),))
    one = bench(seed=9)
    before = vars(one).copy()

    assert calibrated(one, ACCELERATOR).timed == (Timed(1, (9,), (ACCELERATOR.row_ns,)),)
    assert vars(one) == before


class Mute:
    """A deployment that never answers."""

    clock = VirtualClock()

    def submit(self, _request: Any) -> Future[Any]:
        """Accept the request."""
        return Future()

    def close(self) -> None:
        """Do nothing."""


def test_a_target_without_an_answer_has_no_capacity() -> None:
    """Measurements that compare with the capacity have no result when nothing is answered, and say why."""
    target: Any = SimpleNamespace(deploy=None)
    record: Any = SimpleNamespace()
    bench = Bench(full(target), record, quick=True, wait_ns=1000 * MS)

    with pytest.raises(Unmeasured, match="the capacity, with 12 clients: INVALID: 12 of 12 requests had no answer"):
        saturation(bench, Served(Mute(), ACCELERATOR), BatcherConfig(max_batch_size=4))
