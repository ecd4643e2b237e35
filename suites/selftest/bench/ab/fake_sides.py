"""Sides without a process: their blocks take no time and have the figures that a test wants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from batchproof.bench.ab.block import Block

if TYPE_CHECKING:
    from batchproof.bench.ab.duel import Blocks


@dataclass
class FakeClock:
    """Seconds that pass only when a block is made."""

    now_s: float = 100.0

    def now(self) -> float:
        """The time."""
        return self.now_s


@dataclass
class FakeSide:
    """A side that is asked for blocks. rate: of its next block, given how many it has made. made: what was asked."""

    clock: FakeClock
    rate: Callable[[int], float]
    block: Callable[[int], dict[str, Any]] = lambda _number: {}
    made: list[tuple[object, ...]] = field(default_factory=list)

    def saturate(self, clients: int, requests: int) -> Block:
        """A block of 0.4 s."""
        return self._made(("saturate", clients, requests), 0.4)

    def pace(self, rate: float, seconds: float, seed: int) -> Block:
        """A block of so many seconds."""
        return self._made(("pace", rate, seconds, seed), seconds)

    def _made(self, order: tuple[object, ...], seconds: float) -> Block:
        number = len(self.made)
        self.made.append(order)
        self.clock.now_s += seconds
        rate = self.rate(number)
        throughput = {"rows_per_s": rate, "typical_rows_per_s": rate}
        latency = {"p50_ns": 1e9 / rate, "p99_ns": 3e9 / rate, "mean_ns": 1e9 / rate}
        block = Block(200, 0, seconds, 0.0, {**throughput, **latency}, judged=200)
        return replace(block, **self.block(number))


def sides(base: FakeSide, new: FakeSide) -> dict[str, Blocks]:
    """Both."""
    return {"base": base, "new": new}
