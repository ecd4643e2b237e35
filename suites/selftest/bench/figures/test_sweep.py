"""A sweep in which the host has spoilt points: the best of the rest is not passed off as the best."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from batchproof.bench.each_work import Works
from batchproof.bench.figures.sweep import figures
from batchproof.bench.measurements.sweep import Observed, Sweep
from batchproof.load.validity import Validity
from batchproof.load.workload import MS
from batchproof.reference_batcher import BatcherConfig
from batchproof.suites.selftest.bench.figures.test_of_run import saturated

CURVE = {1: 21, 4: 25, 16: 40}  # ms


def point(size, *, valid=True):
    """Return a saturated point of a sweep."""
    run = saturated([CURVE[size] * MS] * 24, size)
    run = run if valid else replace(run, validity=Validity(("the host stalled",)))
    oracle = SimpleNamespace(finding="", lost=None)
    return Observed(BatcherConfig(max_batch_size=size), {"clients": 2 * size}, run, run.summary(), oracle, 1.0)


@pytest.mark.parametrize(
    ("spoilt", "best", "valid"),
    [
        ((), 400, {"best": True, "gain": True}),
        ((16,), 160, {"best": False, "gain": False}),
        ((4, 16), 1000 / 21, {"best": False, "gain": False}),
        ((1,), 400, {"best": True, "gain": False}),
        ((4,), 400, {"best": True, "gain": True}),
    ],
)
def test_a_larger_batch_that_is_not_known_may_be_better(spoilt, best, valid):
    """Then the best of the others is not a result; a smaller batch could not have been better."""
    points = tuple(point(size, valid=size not in spoilt) for size in CURVE)

    found = figures(Works({"w": Sweep(points, (), 8.0)}, {}))

    known = {one.name: one for one in found}
    assert known["sweep.best_rows_per_s"].value == pytest.approx(best)
    assert {"best": known["sweep.best_rows_per_s"].valid, "gain": known["sweep.gain"].valid} == valid
    assert [one.valid for one in found if one.name == "sweep.rows_per_s"] == [size not in spoilt for size in CURVE]
