"""A model under load is brought up if the target can serve it, and skipped with a reason if not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from batchproof.load.workload import WORKS, Skipped, serve
from batchproof.reference_batcher import BatcherConfig
from batchproof.targets import resolve


def test_a_torch_model_needs_a_target_that_serves_it() -> None:
    """A target that can serves it; on any other, the work is skipped with a reason."""
    pytest.importorskip("torch")
    with pytest.raises(Skipped, match="not run torch models in simulated time"):
        serve(resolve("virtual"), WORKS["mlp"], BatcherConfig(), wait_ns=10**9)
    with serve(resolve("reference"), WORKS["mlp"], BatcherConfig(), wait_ns=30 * 10**9) as served:
        assert tuple(served.submit(1, rows=3).result(timeout=30).shape) == (3, 16)


def test_an_unclaimed_work_is_skipped() -> None:
    """It is skipped and does not fail."""
    target = resolve("virtual")
    target.info = replace(target.info, claims={})
    with pytest.raises(Skipped, match="does not claim 'priorities'"):
        serve(target, WORKS["accelerator"], BatcherConfig(priority_levels=2, default_priority_level=1), wait_ns=10**9)
