"""Service times that are measured through a simulated target are exact."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import pytest

from batchproof.bench import service_time
from batchproof.bench.calibration import calibrated
from batchproof.bench.measurements import static
from batchproof.load.workload import WORKS

if TYPE_CHECKING:
    from collections.abc import Callable

    from batchproof.bench.measurement import Bench

ACCELERATOR = WORKS["accelerator"]
BASE_NS, ROW_NS = ACCELERATOR.base_ns, ACCELERATOR.row_ns


def test_static_is_exact(bench: Callable[..., Bench]) -> None:
    """Through a simulated target, tau(b) is what the witness was asked for, to the nanosecond; so is all that follows."""
    one = bench()
    result = static.measure(one, partial(calibrated, one))
    facts = result.facts()["works"]["accelerator"]

    assert (result.valid, result.reasons, result.verdict) == (True, (), "")
    assert [(p["rows"], p["tau_ns"], p["through_ns"]) for p in facts["points"]] == [
        (b, BASE_NS + ROW_NS * b, BASE_NS + ROW_NS * b) for b in service_time.SIZES
    ]
    assert facts["fit"] == {"base_ns": BASE_NS, "row_ns": ROW_NS, "worst_residual": pytest.approx(0, abs=1e-12)}
    assert math.isclose(facts["ceiling"], 128 * (BASE_NS + ROW_NS) / (BASE_NS + 128 * ROW_NS))
    assert (facts["overhead_ns"], facts["left_out"]) == (0, [])
