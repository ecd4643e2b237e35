"""What an engine is asked for, and what it knows about each sequence of it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Request:
    """A request for text: `samples` continuations of a prompt.

    name: no two requests have the same one at a time. prompt: tokens, as numbers. max_tokens: of each continuation.
    priority: a lower number comes first, where the policy says so. stop: tokens that end a continuation, each as its last.
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

    arrival: a number that grows with each sequence. tokens: the prompt, and the text so far. computed: how many of its
    tokens the KV cache holds. blocks: its block table: place p is in block `blocks[p // block_size]`. keys: those of its
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
        """How many tokens it has said."""
        return len(self.tokens) - len(self.request.prompt)


@dataclass(frozen=True)
class Row:
    """A sequence's part in an iteration.

    start: how many tokens the KV cache holds before. tokens: the new ones, at the places from `start` on. blocks: the block
    table, as far as these places reach. last: these are all that the sequence has, so the model says its next token.
    """

    sequence: Sequence
    start: int
    tokens: tuple[int, ...]
    blocks: tuple[int, ...]
    last: bool


@dataclass(frozen=True)
class Iteration:
    """What runs together. preempted: the sequences that lost their blocks before it, first to last."""

    number: int
    rows: tuple[Row, ...]
    preempted: tuple[Sequence, ...] = ()


@dataclass(frozen=True)
class Said:
    """What comes out for one sample: new tokens, and how it ended: `length`, `stop`, `abort`, `error`; "": not yet."""

    name: str
    sample: int
    tokens: tuple[int, ...] = ()
    end: str = ""
