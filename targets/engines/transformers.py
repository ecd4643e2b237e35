"""Hugging Face transformers: `--target transformers` runs its continuous batching on a CPU, one iteration at a time.

docs/continuous.md explains its configuration and its claims.
"""

from __future__ import annotations

from batchproof.targets.engines.process import HostedTarget
from batchproof.targets.protocol import Misuse

SCHEDULERS = ("fifo", "prefill_first")

CLAIMS = {
    "iterations": "stepped", "joins_within": 1, "admission": "arrival", "chunked_prefill": True, "mixed_iterations": True,
    "stall_free": True, "streams_within": 1,
    "preemption": "recompute", "prefix_cache": True, "samples": True, "streaming": True, "stop_tokens": True,
    "gauges": True, "max_model_len": False, "kv_blocks": True, "block_size": 4, "cancel": True,
}  # fmt: skip
HINT = "pip install 'batchproof[transformers]', or name an interpreter that has them: --target 'transformers?python=PATH'"


class TransformersTarget(HostedTarget):
    """The ContinuousBatchingManager, stepped. scheduler: one of `SCHEDULERS`, `ContinuousBatchingConfig.scheduler_type`."""

    name = "transformers"
    program = "transformers_host.py"
    beside = ("transformers_witness.py",)
    distributions = ("transformers", "torch")
    hint = HINT
    claims = CLAIMS

    def __init__(self, python: str = "", scheduler: str = "fifo") -> None:
        if scheduler not in SCHEDULERS:
            raise Misuse(f"?scheduler={scheduler}: choose from {' and '.join(SCHEDULERS)}")
        self.environment = {"HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": "", "BATCHPROOF_SCHEDULER": scheduler}
        if scheduler == "prefill_first":
            self.claims = {**CLAIMS, "stall_free": False}
        super().__init__(python)
