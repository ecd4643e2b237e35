"""The configuration of an engine with continuous batching."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import ceil
from typing import Any


class EngineConfigError(ValueError):
    """A configuration that no engine can have; the message says why."""


@dataclass(frozen=True)
class EngineConfig:
    """An engine's configuration, with the names that vLLM's documentation uses.

    max_num_seqs: the most rows in an iteration. max_num_batched_tokens: the most new tokens in an iteration, its token
    budget. block_size: tokens in a KV block. num_blocks: the number of KV blocks. max_model_len: the most tokens in a prompt
    and its continuation together. chunked_prefill: a prompt may be computed in several iterations. prefix_cache: blocks that
    have been computed are reused for requests with the same prefix. policy: the order of admission: `fcfs`, or `priority`,
    where a lower number comes first and arrival breaks ties. long_prefill_token_threshold: how many tokens of its prompt a
    request may compute in an iteration while there are others; 0 means no limit.
    """

    max_num_seqs: int = 4
    max_num_batched_tokens: int = 256
    block_size: int = 32
    num_blocks: int = 64
    max_model_len: int = 256
    chunked_prefill: bool = True
    prefix_cache: bool = False
    policy: str = "fcfs"
    long_prefill_token_threshold: int = 0

    def __post_init__(self) -> None:
        for name in ("max_num_seqs", "max_num_batched_tokens", "block_size", "num_blocks", "max_model_len"):
            if getattr(self, name) < 1:
                raise EngineConfigError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.policy not in ("fcfs", "priority"):
            raise EngineConfigError(f"policy is fcfs or priority, not '{self.policy}'")
        if self.max_num_batched_tokens < self.max_num_seqs:
            raise EngineConfigError("max_num_batched_tokens must be at least max_num_seqs: each row needs a token")
        if (most := self.long_prefill_token_threshold) < 0:
            raise EngineConfigError(f"long_prefill_token_threshold must not be negative, and is {most}")
        if most and not self.chunked_prefill:
            raise EngineConfigError("long_prefill_token_threshold needs chunked_prefill: it cuts prompts")
        if not self.chunked_prefill and self.max_num_batched_tokens < self.max_model_len:
            raise EngineConfigError("without chunked_prefill, max_num_batched_tokens must be at least max_model_len")

    def blocks_of(self, tokens: int) -> int:
        """Return how many blocks this number of tokens needs."""
        return ceil(tokens / self.block_size)

    def facts(self) -> dict[str, Any]:
        """Return every field as JSON data."""
        return {field.name: getattr(self, field.name) for field in fields(self)}
