"""The batching strategies that a configuration can name, so that a case with a strategy is data.

    volume:N        the volumes of a batch are N or less together
    alone           nobody shares a batch
    first           the first request's volume is the number of requests in its batch, at most; 0: any number
    slow:N          everybody joins, and each answer takes N milliseconds
    raises:N        `include` raises for a request of volume N; everybody else joins
    raises-once:N   the same, but only the first time that it is asked about such a request
    fragile:N       as volume:N, but only who joins is recorded, and each hook can raise (see `Fragile`)

The volume of a request is the number of bytes of its inputs, as in Triton's own example, unless another measure is given.
`targets/triton/strategy.c` has the same strategies for Triton.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .execution import Tree, leaves

Measure = Callable[[Tree], int]
NUMBERED = ("volume", "slow", "raises", "raises-once", "fragile")
PLAIN = ("alone", "first")
ASKED_BADLY, ENDS_BADLY, BEGINS_BADLY, CLOSES_BADLY = 7, 13, 11, 17  # volumes at which a hook of `Fragile` raises


def problem(text: str) -> str:
    """Return what is wrong with the name of a strategy; "" if nothing is."""
    kind, _, number = text.partition(":")
    if text in PLAIN or (kind in NUMBERED and number.isascii() and number.isdigit()):
        return ""
    return f"strategy must be one of {', '.join(PLAIN)}, {', '.join(f'{one}:N' for one in NUMBERED)}, not '{text}'"


def nbytes(inputs: Tree) -> int:
    """Return how many bytes a request's inputs have; a list counts its elements."""
    return sum(getattr(leaf, "nbytes", len(leaf)) for leaf in leaves(inputs))


def strategy_of(text: str, measure: Measure = nbytes) -> Strategy | Fragile | None:
    """Return the strategy of this name; None for an empty one."""
    kind, _, number = text.partition(":")
    if kind == "fragile":
        return Fragile(int(number), measure)
    return Strategy(kind, int(number or 0), measure) if text else None


@dataclass
class Record:
    """What a strategy remembers about a batch: how many have joined, and a volume (the sum; of the first, for `first`)."""

    requests: int = 0
    volume: int = 0


@dataclass
class Strategy:
    """One of the strategies above; a `BatchStrategy`."""

    kind: str
    number: int
    measure: Measure
    raised: bool = field(default=False, init=False)

    def batcher_initialize(self, config: Any) -> None:
        """Do nothing."""

    def batch_initialize(self) -> Record:
        """Return an empty record."""
        return Record()

    def include(self, request: Any, record: Record) -> bool:
        """Return whether it joins, and remember it if it does."""
        volume = self.measure(request.inputs)
        joins = self._joins(volume, record)
        if joins or not record.requests:
            record.requests += 1
            record.volume = volume if self.kind == "first" and record.requests == 1 else record.volume
            record.volume += volume if self.kind == "volume" else 0
        return joins

    def batch_finalize(self, record: Record) -> None:
        """Do nothing."""

    def batcher_finalize(self) -> None:
        """Do nothing."""

    def _joins(self, volume: int, record: Record) -> bool:
        match self.kind:
            case "volume":
                return record.volume + volume <= self.number
            case "alone":
                return not record.requests
            case "first":
                return not record.requests or not record.volume or record.requests < record.volume
            case "slow":
                time.sleep(self.number / 1e3)
            case "raises" | "raises-once" if volume == self.number and not (self.raised and self.kind == "raises-once"):
                self.raised = True
                raise RuntimeError(f"a request of volume {volume}")
        return True


@dataclass
class FragileRecord:
    """The volume of those who have joined, and whether one of them makes `batch_finalize` raise."""

    volume: int = 0
    ends_badly: bool = False


@dataclass
class Fragile:
    """A limit of volume whose record has nothing of a request that it refuses; a `BatchStrategy`.

    `include` raises for a request of volume 7. Once one of 13 has joined, `batch_finalize` raises for its batch; after one
    of 11, `batch_initialize` raises for the next batch; after one of 17, `batcher_finalize` raises.
    """

    number: int
    measure: Measure
    begins_badly: bool = field(default=False, init=False)
    closes_badly: bool = field(default=False, init=False)

    def batcher_initialize(self, config: Any) -> None:
        """Do nothing."""

    def batch_initialize(self) -> FragileRecord:
        """Return an empty record."""
        if self.begins_badly:
            self.begins_badly = False
            raise RuntimeError(f"a batch before this one had a volume of {BEGINS_BADLY}")
        return FragileRecord()

    def include(self, request: Any, record: FragileRecord) -> bool:
        """Return whether it joins, and remember it if it does."""
        volume = self.measure(request.inputs)
        if volume == ASKED_BADLY:
            raise RuntimeError(f"a request of volume {volume}")
        if record.volume + volume > self.number:
            return False
        record.volume += volume
        record.ends_badly |= volume == ENDS_BADLY
        self.begins_badly |= volume == BEGINS_BADLY
        self.closes_badly |= volume == CLOSES_BADLY
        return True

    def batch_finalize(self, record: FragileRecord) -> None:
        """Raise for some batches."""
        if record.ends_badly:
            raise RuntimeError(f"this batch had a volume of {ENDS_BADLY}")

    def batcher_finalize(self) -> None:
        """Raise after some requests."""
        if self.closes_badly:
            raise RuntimeError(f"a batch had a volume of {CLOSES_BADLY}")
