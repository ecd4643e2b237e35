"""vLLM's witness: an architecture without weights that keeps its data in the engine's own KV cache.

This file is copied into vLLM's interpreter. Each new token is written as (token, position) through the engine's slot
mapping; the whole context of each row is then read back through the engine's block table, and the next token is computed
from it.

The log goes to the list `LINES`, or to the file that the environment names in `LOG`: one JSON document per line.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import torch
from batchproof_witness import language
from batchproof_witness.device import DEVICE
from batchproof_witness.paged import Iteration, rows_of
from torch import nn
from vllm import ModelRegistry
from vllm.forward_context import get_forward_context
from vllm.model_executor.layers.attention import Attention

ARCHITECTURE = "BatchproofWitness"
LOG = "BATCHPROOF_VLLM_LOG"
GATE = "BATCHPROOF_VLLM_GATE"  # the path of the gate: while this file exists, iterations are held
LOOK_S = 0.0005
HEAD = 32  # the smallest head of the CPU backend
PEAK = 1e4  # so far above the other logits that sampling takes it at any temperature
CONFIG = {
    "model_type": "llama", "architectures": [ARCHITECTURE], "hidden_size": HEAD, "intermediate_size": HEAD, "head_dim": HEAD,
    "num_hidden_layers": 1, "num_attention_heads": 1, "num_key_value_heads": 1, "vocab_size": language.VOCABULARY,
    "max_position_embeddings": 1 << 20, "bos_token_id": 1, "eos_token_id": language.END_OF_TEXT, "torch_dtype": "float32",
}  # fmt: skip
LINES: list[dict[str, Any]] = []


class Witness(nn.Module):
    """The witness language model, as an architecture that vLLM can load."""

    def __init__(self, *, vllm_config: Any, prefix: str = "") -> None:
        super().__init__()
        self.attn = Attention(
            1, HEAD, 1.0, num_kv_heads=1, cache_config=vllm_config.cache_config, prefix=f"{prefix}layers.0.attn"
        )
        self.number = 0
        self.gate = Path(os.environ[GATE]) if GATE in os.environ else None

    def embed_input_ids(self, input_ids: torch.Tensor) -> torch.Tensor:
        """Return a tensor of the right shape; the tokens themselves come from the KV cache."""
        return torch.zeros(len(input_ids), HEAD)

    def forward(self, input_ids: torch.Tensor, positions: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
        """Run an iteration: [tokens] -> [tokens, HEAD], with each row's next token in element 0 of its last token."""
        hidden = torch.zeros(len(input_ids), HEAD)
        metadata = get_forward_context().attn_metadata
        if not metadata:  # warm-up and profiling
            return hidden
        enter_ns = time.monotonic_ns()
        while self.gate and self.gate.exists():
            time.sleep(LOOK_S)
        rows = self._rows(metadata[self.attn.layer_name], input_ids, positions, hidden)
        DEVICE.pace(enter_ns, sum(row[2] for row in rows))
        self.number += 1
        _note({"number": self.number, "enter_ns": enter_ns, "exit_ns": time.monotonic_ns(), "rows": rows})
        return hidden

    def compute_logits(self, hidden_states: torch.Tensor) -> torch.Tensor:
        """Return logits [rows, VOCABULARY] with a single possible choice."""
        logits = torch.zeros(len(hidden_states), language.VOCABULARY)
        logits[torch.arange(len(hidden_states)), hidden_states[:, 0].long()] = PEAK
        return logits

    def load_weights(self, weights: Any) -> set[str]:
        """Load nothing."""
        del weights
        return set()

    def _rows(self, metadata: Any, input_ids: Any, positions: Any, hidden: Any) -> list[list[Any]]:
        entries = self.attn.kv_cache[:, 0, :, :2].numpy()  # [blocks, 1 head, slots, keys and values] on a CPU
        count, cuts = metadata.num_actual_tokens, metadata.query_start_loc.tolist()
        now = Iteration(
            input_ids[:count].numpy(), positions[:count].numpy(), metadata.slot_mapping[:count].numpy(), cuts,
            metadata.seq_lens.tolist(), metadata.block_table.numpy(),
        )  # fmt: skip
        rows = []
        for number, (row, token) in enumerate(rows_of(entries, now)):
            rows.append(row)
            hidden[cuts[number + 1] - 1, 0] = token
        return rows


def _note(line: dict[str, Any]) -> None:
    if path := os.environ.get(LOG):
        with Path(path).open("a", encoding="ascii") as file:
            file.write(json.dumps(line) + "\n")
    else:
        LINES.append(line)


def register() -> None:
    """Register the architecture with vLLM; its plugin (`vllm.general_plugins`) calls this in each of its processes."""
    if ARCHITECTURE not in ModelRegistry.get_supported_archs():
        ModelRegistry.register_model(ARCHITECTURE, Witness)


def model(folder: Path) -> str:
    """Write the model's folder, without weights, and return its path."""
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    return str(folder)
