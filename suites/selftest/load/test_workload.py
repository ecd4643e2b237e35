"""A model under load is brought up where the target can serve it, and skipped with the reason where not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from batchproof.load.workload import WORKS, Skipped, serve
from batchproof.reference_batcher import BatcherConfig
from batchproof.targets import resolve


def test_torch_model_on_a_target() -> None:
    """A torch work is served by a target that can, and skipped with the reason where it is not."""
    pytest.importorskip("torch")
    with pytest.raises(Skipped, match="not run torch models in simulated time"):
        serve(resolve("virtual"), WORKS["mlp"], BatcherConfig(), wait_ns=10**9)
    with serve(resolve("reference"), WORKS["mlp"], BatcherConfig(), wait_ns=30 * 10**9) as served:
        assert tuple(served.submit(1, rows=3).result(timeout=30).shape) == (3, 16)


def test_what_is_not_claimed_is_skipped() -> None:
    """Not failed."""
    target = resolve("virtual")
    target.info = replace(target.info, claims={})
    with pytest.raises(Skipped, match="does not claim 'priorities'"):
        serve(target, WORKS["accelerator"], BatcherConfig(priority_levels=2, default_priority_level=1), wait_ns=10**9)
