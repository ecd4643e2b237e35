"""OpenVINO GenAI: `--target openvino`, its ContinuousBatchingPipeline on a CPU, one iteration at a time."""

from __future__ import annotations

from batchproof.targets.engines.process import HostedTarget

CLAIMS = {
    "text": "graph", "iterations": "stepped", "joins_within": 1, "admission": "arrival", "chunked_prefill": True,
    "mixed_iterations": True, "stall_free": True, "streams_within": 1,
    "preemption": "recompute", "prefix_cache": True, "samples": True, "streaming": True,
    "stop_tokens": True, "gauges": True, "kv_blocks": True, "max_model_len": False, "block_size": 32, "cancel": True,
}  # fmt: skip
HINT = "pip install 'batchproof[openvino]', or name an interpreter that has it: --target 'openvino?python=PATH'"


class OpenVinoTarget(HostedTarget):
    """OpenVINO GenAI, stepped. Its model speaks `graph_language`."""

    name = "openvino"
    program = "openvino_host.py"
    beside = ("openvino_witness.py",)
    distributions = ("openvino-genai", "openvino")
    hint = HINT
    claims = CLAIMS
