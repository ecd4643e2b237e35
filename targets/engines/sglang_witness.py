"""SGLang's witness: an architecture without weights that keeps its data in the engine's own KV cache.

This file is copied into SGLang's interpreter. Each new token is written as (token, position) through the engine's
`out_cache_loc` into its `token_to_kv_pool`; the whole context of each row is then read back through its
`req_to_token_pool`, which has a slot for each token, and the next token is computed from it.
"""

from __future__ import annotations

import json
import time
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import torch
from batchproof_witness import language
from batchproof_witness.device import DEVICE
from batchproof_witness.paged import Iteration, rows_read
from sglang.srt.layers.logits_processor import LogitsProcessorOutput
from sglang.srt.layers.radix_attention import RadixAttention
from sglang.srt.model_executor.forward_context import get_attn_backend
from torch import nn

HEAD = 32
CONFIG = {
    "model_type": "llama", "architectures": ["Witness"], "hidden_size": HEAD, "intermediate_size": HEAD, "head_dim": HEAD,
    "num_hidden_layers": 1, "num_attention_heads": 1, "num_key_value_heads": 1, "vocab_size": language.VOCABULARY,
    "max_position_embeddings": 1 << 20, "bos_token_id": 1, "eos_token_id": language.END_OF_TEXT, "torch_dtype": "float32",
}  # fmt: skip
LINES: list[dict[str, Any]] = []


def told(page: int, tokens: list[int], places: list[int], count: int, slots: list[int]) -> list[Any]:
    """Return a row's line in the log, with the blocks of `page` slots that its slots are in."""
    return language.row(tokens, places, count, list(dict.fromkeys(slot // page for slot in slots)))


class Witness(nn.Module):
    """The witness language model, as an architecture that SGLang can load."""

    def __init__(self, config: Any = None, quant_config: Any = None, prefix: str = "") -> None:
        del config, quant_config, prefix
        super().__init__()
        self.attn = RadixAttention(1, HEAD, 1.0, num_kv_heads=1, layer_id=0)
        self.nothing = nn.Parameter(torch.zeros(1), requires_grad=False)
        self.number = 0

    @torch.no_grad()
    def forward(self, input_ids: torch.Tensor, positions: torch.Tensor, forward_batch: Any, **_: Any) -> Any:
        """Run an iteration: [tokens] -> logits [rows, VOCABULARY] with a single possible choice."""
        enter_ns = time.monotonic_ns()
        backend, lengths = get_attn_backend(), forward_batch.seq_lens.tolist()
        pool, table = backend.token_to_kv_pool, backend.req_to_token_pool.req_to_token
        decode = forward_batch.forward_mode.is_decode()
        counts = [1] * len(lengths) if decode else forward_batch.extend_seq_lens.tolist()
        cuts = [0, *accumulate(counts)]
        now = Iteration(
            input_ids[: cuts[-1]].numpy(), positions[: cuts[-1]].numpy(), forward_batch.out_cache_loc.numpy(), cuts, lengths,
            table[forward_batch.req_pool_indices].numpy(),
        )  # fmt: skip
        slots = pool.get_key_buffer(self.attn.layer_id)[:, :, :2].numpy()  # [slots, 1 head, token and position]
        slots[now.slots, 0] = np.stack([now.tokens, now.positions], axis=1)
        rows, logits = [], torch.zeros(len(lengths), language.VOCABULARY)
        for number, (row, context) in enumerate(rows_read(slots, now, partial(told, pool.page_size))):
            rows.append(row)
            logits[number, language.next_token(context)] = 1.0
        DEVICE.pace(enter_ns, cuts[-1])
        self.number += 1
        LINES.append({"number": self.number, "enter_ns": enter_ns, "exit_ns": time.monotonic_ns(), "rows": rows})
        return LogitsProcessorOutput(next_token_logits=logits)

    def load_weights(self, weights: Any) -> None:
        """Load nothing."""


def model(folder: Path) -> str:
    """Write the model's folder, without weights, and return its path."""
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    return str(folder)


EntryClass = Witness
