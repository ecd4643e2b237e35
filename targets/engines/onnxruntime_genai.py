"""ONNX Runtime GenAI: `--target onnxruntime-genai`, its Engine with dynamic batching on a CPU, one iteration at a time."""

from __future__ import annotations

from batchproof.targets.engines.process import HostedTarget

CLAIMS = {
    "iterations": "stepped", "joins_within": 1, "admission": "arrival", "chunked_prefill": True, "mixed_iterations": True,
    "stall_free": True, "streams_within": 1,
    "prefix_cache": True, "streaming": True, "kv_blocks": True, "block_size": 16, "cancel": True,
}  # fmt: skip
HINT = (
    "pip install 'batchproof[onnxruntime-genai]', or name an interpreter that has it: "
    "--target 'onnxruntime-genai?python=PATH'"
)


class OnnxRuntimeGenAITarget(HostedTarget):
    """ONNX Runtime GenAI, stepped; its model is one custom operation, which is the witness."""

    name = "onnxruntime-genai"
    program = "onnxruntime_genai_host.py"
    beside = ("onnxruntime_genai_witness.py",)
    distributions = ("onnxruntime-genai", "onnxruntime-extensions", "onnx")
    hint = HINT
    claims = CLAIMS
