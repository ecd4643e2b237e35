"""SGLang on a CPU: `--target sglang` runs its scheduler one iteration at a time, with stubs for two packages.

docs/continuous.md explains its configuration and its claims.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf

from batchproof.targets.engines.process import HostedTarget
from batchproof.targets.engines.sglang_stubs import LOCAL
from batchproof.targets.protocol import Misuse

CLAIMS = {
    "iterations": "stepped", "joins_within": 1, "admission": "arrival", "chunked_prefill": True,
    "request_priorities": "admission", "prefix_cache": True, "streaming": True, "streams_within": 1,
    "stop_tokens": True, "gauges": True, "kv_blocks": True, "block_size": 16, "cancel": True,
}  # fmt: skip
ENVIRONMENT = {"HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
HINT = "batchproof env make sglang, or name an interpreter that has it: --target 'sglang?python=PATH'"


class SglangTarget(HostedTarget):
    """SGLang's Scheduler, stepped. The reported version ends in `+stubs`.

    conservativeness: `--schedule-conservativeness`. Below 1, it admits requests that may later outgrow the KV cache.
    """

    name = "sglang"
    program = "sglang_host.py"
    beside = ("sglang_engine.py", "sglang_witness.py", "sglang_stubs.py")
    distributions = ("sglang", "torch", "triton")
    hint = HINT

    def __init__(self, python: str = "", conservativeness: str = "1") -> None:
        try:
            share = float(conservativeness)
        except ValueError:
            share = -1.0
        if not 0 <= share < inf:
            raise Misuse(f"?conservativeness={conservativeness}: give a number of at least 0")
        self.environment = {**ENVIRONMENT, "BATCHPROOF_CONSERVATIVENESS": str(share)}
        self.claims = {**CLAIMS, "preemption": "recompute"} if share < 1 else CLAIMS
        super().__init__(python)
        self.info = replace(self.info, version=self.info.version + LOCAL)
