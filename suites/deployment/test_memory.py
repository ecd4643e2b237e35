"""Shared memory: tensors that do not travel with their request."""

import pytest

from batchproof.reference_batcher import BatcherConfig
from batchproof.targets.repository import Model

FOUR = BatcherConfig(max_batch_size=4)


@pytest.mark.rule("DP-MEMORY-001")
def test_shared_memory(serving, judge):
    """Requests whose tensors are in shared memory share batches with others, and each gets its own result"""
    on = serving(Model("model", FOUR))
    on.plug("model", "gate")
    for place in range(12):
        on.in_line("model", f"r{place}", already=place, shared=place % 2 == 0)
    on.release("model", "gate")

    judge(on.scene())
