"""What an engine is asked for, and what it keeps about each sequence."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Request:
    """A request for text: `samples` continuations of a prompt.

    name: unique among the requests under way. prompt: token IDs. max_tokens: of each continuation. priority: a lower number
    comes first under the policy `priority`. stop: tokens that end a continuation; the stop token is its last token.
    """

    name: str
    prompt: tuple[int, ...]
    max_tokens: int
    priority: int = 0
    stop: tuple[int, ...] = ()
    samples: int = 1


@dataclass(eq=False)
class Sequence:
    """One continuation of a request's prompt.

    arrival: a number that grows with each sequence. tokens: the prompt and the text so far. computed: how many of its tokens
    are in the KV cache. blocks: its block table: position p is in block `blocks[p // block_size]`. keys: the keys of its
    blocks that are full and computed (see `blocks`). end: how it ended, or "".
    """

    request: Request
    sample: int
    arrival: int
    tokens: list[int]
    computed: int = 0
    blocks: list[int] = field(default_factory=list)
    keys: list[bytes] = field(default_factory=list)
    end: str = ""

    @property
    def text(self) -> int:
        """How many tokens it has generated."""
        return len(self.tokens) - len(self.request.prompt)


@dataclass(frozen=True)
class Row:
    """A sequence's part in an iteration.

    start: how many of its tokens the KV cache held before. tokens: the new ones, at positions from `start` on. blocks: the
    block table up to the last of these positions. last: no token of the sequence is left to compute, so the model generates
    its next one.
    """

    sequence: Sequence
    start: int
    tokens: tuple[int, ...]
    blocks: tuple[int, ...]
    last: bool


@dataclass(frozen=True)
class Iteration:
    """The rows that run together. preempted: the sequences that lost their blocks before it, in order."""

    number: int
    rows: tuple[Row, ...]
    preempted: tuple[Sequence, ...] = ()


@dataclass(frozen=True)
class Said:
    """Output for one sample: new tokens, and how it ended: `length`, `stop`, `abort` or `error`, "" if it has not."""

    name: str
    sample: int
    tokens: tuple[int, ...] = ()
    end: str = ""
