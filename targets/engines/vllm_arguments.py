"""vLLM's engine arguments for the witness. This file is copied into vLLM's interpreter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import vllm_witness
from engine_host import CannotHave

SMALLEST = 32  # the CPU backend's block size is a multiple of this number of tokens
OWN = 1  # vLLM keeps one block to itself


def arguments(config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return vLLM's engine arguments for an EngineConfig's facts."""
    if config["block_size"] % SMALLEST:
        raise CannotHave(f"KV blocks of {config['block_size']} tokens: the size must be a multiple of {SMALLEST}")
    if config["num_blocks"] * config["block_size"] < config["max_model_len"]:
        raise CannotHave("a KV cache smaller than the longest request: max_model_len must fit into num_blocks")
    return {
        "model": vllm_witness.model(folder / "model"), "load_format": "dummy", "dtype": "float32", "enforce_eager": True,
        "skip_tokenizer_init": True, "seed": 0, "kv_cache_memory_bytes": 64 << 20,
        "num_gpu_blocks_override": config["num_blocks"] + OWN, "block_size": config["block_size"],
        "max_num_seqs": config["max_num_seqs"], "max_num_batched_tokens": config["max_num_batched_tokens"],
        "max_model_len": config["max_model_len"], "enable_chunked_prefill": config["chunked_prefill"],
        "enable_prefix_caching": config["prefix_cache"], "scheduling_policy": config["policy"],
        "long_prefill_token_threshold": config["long_prefill_token_threshold"],
    }  # fmt: skip
