"""The witness for transformers: a PreTrainedModel without weights that keeps its data in the engine's own paged KV cache.

This file is copied into the engine's interpreter. The model's one layer writes (token, position) of each new token as key
and as value through `PagedAttentionCache.update`, with the engine's own write and read indices. The return value is the
context as an attention layer would see it. If no row of an iteration has anything in the cache yet, `update` returns the new
entries themselves, and the next iteration reads them back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from batchproof_witness import language
from batchproof_witness.device import DEVICE
from transformers import GenerationMixin, PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import CausalLMOutput

HEAD = 16  # in float32, a block of any size is a multiple of the engine's alignment of 128 bytes
TOKEN, POSITION = 0, 1  # their indices in an entry; the position is stored plus one, so that an entry never written has none
NOWHERE = -1  # the position of an entry that differs from what was written there
LARGEST = 0xFFFF

Log = Callable[[int, int, int, list[list[Any]]], None]


class WitnessConfig(PreTrainedConfig):  # type: ignore[misc]
    """A model with one layer and one head."""

    model_type = "batchproof-witness"

    def __init__(self, **more: Any) -> None:
        self.vocab_size, self.hidden_size, self.head_dim = language.VOCABULARY, HEAD, HEAD
        self.num_hidden_layers = self.num_attention_heads = self.num_key_value_heads = 1
        super().__init__(**more)


def entries(tokens: Any, positions: Any) -> Any:
    """Return the entries of new tokens: [tokens] and [tokens] -> [1, 1, tokens, HEAD]."""
    found = torch.zeros(1, 1, tokens.numel(), HEAD, device=tokens.device)
    found[0, 0, :, TOKEN], found[0, 0, :, POSITION] = tokens.flatten(), positions.flatten() + 1
    return found


def context(keys: Any, values: Any) -> tuple[list[int], list[int]]:
    """Return (tokens, positions) of what was read back: [1, 1, entries, HEAD] each."""
    found = keys[0, 0, :, : POSITION + 1].int()
    whole = (found == values[0, 0, :, : POSITION + 1].int()).all(dim=-1)
    positions = torch.where(whole, found[:, POSITION] - 1, NOWHERE)
    return found[:, TOKEN].clamp(0, LARGEST).tolist(), positions.tolist()


def blocks(index: Sequence[int], stride: int) -> list[int]:
    """Return the blocks that contain these physical slots of the cache, in the order of their first slot."""
    return list(dict.fromkeys(place // stride for place in index))


class Witness(PreTrainedModel, GenerationMixin):  # type: ignore[misc]
    """The witness language model. log: called after each iteration, see `Host.line`."""

    config_class = WitnessConfig
    _supports_sdpa = True

    def __init__(self, log: Log) -> None:
        super().__init__(WitnessConfig(attn_implementation="sdpa"))
        self._log, self._number = log, 0
        self.nothing = torch.nn.Parameter(torch.zeros(1), requires_grad=False)  # gives the engine dtype and device

    def forward(
        self,
        input_ids: torch.Tensor,
        position_ids: torch.Tensor,
        cache: Any,
        cu_seq_lens_q: torch.Tensor,
        logits_to_keep: torch.Tensor | int = 0,
        **kwargs: Any,
    ) -> CausalLMOutput:
        """Run an iteration: [1, tokens] -> logits [1, kept, VOCABULARY], which choose token 0 unless at the end of a row."""
        enter_ns = time.monotonic_ns()
        new = entries(input_ids, position_ids)
        keys, values = cache.update(new, new, 0, kwargs)
        tokens, positions = context(keys, values)
        read, write = kwargs["read_index"][0].tolist(), kwargs["write_index"][0].tolist()
        stride = cache.layer_to_allocator[0].block_physical_stride
        ends_q, ends_k = cu_seq_lens_q.tolist(), kwargs["cu_seq_lens_k"].tolist()
        given = input_ids.flatten().tolist()
        following, rows = torch.zeros(len(given), dtype=torch.long), []
        for first, last, start, end in zip(ends_q[:-1], ends_q[1:], ends_k[:-1], ends_k[1:], strict=True):
            for place, token in zip(range(end - (last - first), end), given[first:last], strict=True):
                if tokens[place] != token:
                    positions[place] = NOWHERE
            places = blocks((read or write)[start:end], stride)
            rows.append(language.row(tokens[start:end], positions[start:end], last - first, places))
            if last > first:
                following[last - 1] = language.next_token(tokens[start:end])
        following = following.to(input_ids.device)
        kept = following[logits_to_keep] if isinstance(logits_to_keep, torch.Tensor) else following
        logits = torch.nn.functional.one_hot(kept, language.VOCABULARY).float().unsqueeze(0)
        DEVICE.pace(enter_ns, len(given))
        self._number += 1
        self._log(self._number, enter_ns, time.monotonic_ns(), rows)
        return CausalLMOutput(logits=logits)
