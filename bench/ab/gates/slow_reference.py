"""The reference batcher with one line that costs time, for decisions whose right answer is SLOWER.

Its name as a target is `batchproof.bench.ab.gates.slow_reference:SlowReference?percent=5`. The line sleeps under the
batcher's lock after each batch, for this share of the time that a full batch of 8 rows takes on the device of `ab`. It
belongs to the laboratory, not to the mutants: no rule has to notice it.
"""

from __future__ import annotations

import time

from batchproof.bench.ab.options import DEVICE
from batchproof.bench.ab.serving import SIZE
from batchproof.reference_batcher import BatcherConfig
from batchproof.reference_batcher.core import DynamicBatcher
from batchproof.targets.reference import ReferenceDeployment, ReferenceTarget
from batchproof.targets.witness_model import witnessed

BATCH_NS = DEVICE.base_ns + SIZE * DEVICE.row_ns


class SlowCore(DynamicBatcher):
    """The core, with one line more."""

    def __init__(self, config: BatcherConfig, cost_s: float) -> None:
        super().__init__(config)
        self._cost_s = cost_s

    def finished(self, instance: int) -> None:
        """Note that `instance` is free again, late."""
        time.sleep(self._cost_s)
        super().finished(instance)


class SlowReference(ReferenceTarget):
    """Target `reference`, slower by so many percent of its time per batch. percent: a number as text."""

    def __init__(self, percent: str = "5") -> None:
        super().__init__()
        self._cost_s = BATCH_NS * float(percent) / 100 / 1e9

    def deploy(self, config: BatcherConfig) -> ReferenceDeployment:
        """Serve the witness."""
        config = witnessed(config)
        return ReferenceDeployment(config, SlowCore(config, self._cost_s))
