"""llama.cpp: `--target llamacpp`, its server (from the wheel xllamacpp) over HTTP on loopback."""

from __future__ import annotations

from batchproof.targets.engines.process import ClientEngine, HostedTarget

CLAIMS = {
    "text": "graph", "iterations": "free", "chunked_prefill": True, "mixed_iterations": True, "prefix_cache": True,
    "samples": True, "streaming": True, "stop_tokens": True, "gauges": True, "cancel": True, "disconnects": True,
}  # fmt: skip
HINT = "pip install 'batchproof[llamacpp]', or name an interpreter that has it: --target 'llamacpp?python=PATH'"


class LlamaCppTarget(HostedTarget):
    """The server, which iterates by itself and shows no iterations. Its model speaks `graph_language`."""

    name = "llamacpp"
    program = "llamacpp_host.py"
    beside = ("llamacpp_witness.py",)
    distributions = ("xllamacpp", "gguf")
    hint = HINT
    claims = CLAIMS
    sight = "wire"
    opens = ClientEngine
