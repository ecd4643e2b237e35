"""SGLang on a CPU: `--target sglang`, its scheduler run one iteration at a time, with stubs for two packages.

docs/continuous.md says how it is configured, and what the claims mean.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf

from batchproof.targets.engines.process import HostedTarget
from batchproof.targets.engines.sglang_stubs import LOCAL
from batchproof.targets.protocol import Misuse

CLAIMS = {
    "iterations": "stepped", "joins_within": 1, "admission": "arrival", "chunked_prefill": True,
    "request_priorities": "admission", "prefix_cache": True, "streaming": True,
    "stop_tokens": True, "gauges": True, "kv_blocks": True, "block_size": 16, "cancel": True,
}  # fmt: skip
ENVIRONMENT = {"HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
HINT = "batchproof env make sglang, or --target 'sglang?python=PATH' of an interpreter that has it"


class SglangTarget(HostedTarget):
    """SGLang's Scheduler, stepped. Its version says that it runs with stubs.

    conservativeness: `--schedule-conservativeness`. Below 1, requests are let in that may outgrow the KV cache later.
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
            raise Misuse(f"?conservativeness={conservativeness}: a number from 0 on")
        self.environment = {**ENVIRONMENT, "BATCHPROOF_CONSERVATIVENESS": str(share)}
        self.claims = {**CLAIMS, "preemption": "recompute"} if share < 1 else CLAIMS
        super().__init__(python)
        self.info = replace(self.info, version=self.info.version + LOCAL)
