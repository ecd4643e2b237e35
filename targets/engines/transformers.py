"""Hugging Face transformers: `--target transformers` runs its continuous batching on a CPU, one iteration at a time.

docs/continuous.md explains its configuration and its claims.
"""

from __future__ import annotations

from dataclasses import replace

from batchproof.targets.engines.process import HostedTarget
from batchproof.targets.protocol import Misuse

SCHEDULERS = ("fifo", "prefill_first")
DEVICES = ("cpu", "cuda")
BATCHINGS = ("sync", "async")

CLAIMS = {
    "iterations": "stepped", "joins_within": 1, "admission": "arrival", "chunked_prefill": True, "mixed_iterations": True,
    "stall_free": True, "streams_within": 1,
    "preemption": "recompute", "prefix_cache": True, "samples": True, "streaming": True, "stop_tokens": True,
    "gauges": True, "max_model_len": False, "kv_blocks": True, "block_size": 4, "cancel": True,
}  # fmt: skip
LOCAL = "+stubs"  # of a version: streams are stubs
ASYNC = {"looks_ahead": 1, "streams_within": 2}  # an iteration is prepared before the tokens of the one before it are known
HINT = "pip install 'batchproof[transformers]', or name an interpreter that has them: --target 'transformers?python=PATH'"


class TransformersTarget(HostedTarget):
    """The ContinuousBatchingManager, stepped.

    scheduler: one of `SCHEDULERS`, `ContinuousBatchingConfig.scheduler_type`. device: one of `DEVICES`. batching: `async` is
    `ContinuousBatchingConfig.use_async_batching`, which needs a device with streams; on a CPU, stubs stand in for them.
    """

    name = "transformers"
    program = "transformers_host.py"
    beside = ("transformers_stubs.py", "transformers_witness.py")
    distributions = ("transformers", "torch")
    hint = HINT
    claims = CLAIMS

    def __init__(self, python: str = "", scheduler: str = "fifo", device: str = "cpu", batching: str = "sync") -> None:
        options = (("scheduler", scheduler, SCHEDULERS), ("device", device, DEVICES), ("batching", batching, BATCHINGS))
        for option, value, values in options:
            if value not in values:
                raise Misuse(f"?{option}={value}: choose from {' and '.join(values)}")
        self.environment = {
            "HF_HUB_OFFLINE": "1", "BATCHPROOF_SCHEDULER": scheduler, "BATCHPROOF_DEVICE": device,
            "BATCHPROOF_BATCHING": batching, **({"CUDA_VISIBLE_DEVICES": ""} if device == "cpu" else {}),
        }  # fmt: skip
        not_stall_free = {"stall_free": False} if scheduler == "prefill_first" else {}
        self.claims = {**CLAIMS, **not_stall_free, **(ASYNC if batching == "async" else {})}
        super().__init__(python)
        if batching == "async":
            stubs = LOCAL if device == "cpu" else ""
            self.info = replace(self.info, name=f"{self.name}-async", version=self.info.version + stubs)
