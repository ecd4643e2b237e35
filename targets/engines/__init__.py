"""Engines with continuous batching: what they are asked for, and what they show.

An adapter for one is a target with the verb `engine` (`protocol.Target`), which opens an `Engine`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.targets.protocol import TargetError

ENDS = ("length", "stop", "abort", "error", "refused")


class EngineGone(TargetError):
    """The engine died or hangs: its requests get no end, and another one has to be opened."""


@dataclass(frozen=True)
class Generation:
    """A request for text.

    name: the engine's own ID of the request. serial: of its prompt, see `witness.language`. prompt: token IDs. max_tokens:
    of the continuation. priority: a lower number comes first. stop: token IDs that end the text; the stop token itself may
    be left out. samples: the number of continuations of the prompt (`n`); with the witness, all of them are equal.
    """

    name: str
    serial: int
    prompt: tuple[int, ...]
    max_tokens: int
    priority: int = 0
    stop: tuple[int, ...] = ()
    samples: int = 1


@dataclass(frozen=True)
class Output:
    """Output for one sample of a request: new tokens, and how it ended: one of `ENDS`, "" if it has not.

    text: the engine's own message, for an error or a refusal.
    """

    name: str
    tokens: tuple[int, ...] = ()
    end: str = ""
    sample: int = 0
    text: str = ""


class Engine(Protocol):
    """A running engine with the witness language model in it. It is used by one thread.

    Optional, found by presence: `disconnect(name)` (the client closes its connection in the middle of the stream);
    `device(base_ns, token_ns)` (from now on, an iteration takes `base_ns` and `token_ns` for each new token, see
    `witness.device`; Unsupported if the model cannot be slowed down); `clock` (its own, if it is not the host's).
    """

    def submit(self, request: Generation) -> None:
        """Send a request. A refusal, now or later, is an `Output`."""

    def step(self) -> tuple[list[Output], bool]:
        """Run one iteration, or wait until there is something new; return what came out, and whether work is left.

        An engine that cannot be stepped waits for a short time (see the claim `iterations`). EngineGone if it died or hangs.
        """

    def abort(self, name: str) -> None:
        """Abort a request; nothing happens if it is no longer under way."""

    def log(self) -> list[dict[str, Any]]:
        """Return the witness's new lines, one per iteration: `number`, `enter_ns`, `exit_ns` and `rows` (`language.row`)."""

    def gauges(self) -> Mapping[str, float]:
        """Return the engine's current gauges, those that it has.

        running, waiting: requests. used_blocks, free_blocks: of the KV cache. preempted, prompt_tokens, output_tokens,
        cached_tokens: counts since it was opened.
        """

    def close(self) -> None:
        """End the engine and everything that belongs to it."""


Opener = Callable[[EngineConfig], Engine]
