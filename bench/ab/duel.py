"""The duel: pairs of blocks on both sides, in random order and under the same load, until every question is answered."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from batchproof.bench.ab.block import Block
from batchproof.bench.ab.question import BASE, NEW, SATURATED, Answer, Pair, Question, answer
from batchproof.load.workload import Unmeasured
from batchproof.stats.change import SLOWER, UNPROVEN
from batchproof.stats.gates import each_of
from batchproof.stats.quantiles import CONFIDENCE
from batchproof.stats.sequential import Plan

BLOCK_S = 0.4  # at saturation: a pair then takes about a second
LEAST_BATCHES = 10  # in a block, for slow models
PACED_S = 1.0  # at a fixed load: a few hundred requests, for a p99
MORE = 1.1  # times as many pairs as the first one promises may come; the end of the time is a look, wherever it comes
PILOTS = 3  # blocks that say how fast the base is; they warm both sides up, and count for nothing


class Blocks(Protocol):
    """A side that is asked for blocks, as `side.Side`."""

    def saturate(self, clients: int, requests: int) -> Block:
        """Return a block in a closed loop."""

    def pace(self, rate: float, seconds: float, seed: int) -> Block:
        """Return a block in an open loop."""


@dataclass(frozen=True)
class Load:
    """The load that both sides get. clients, requests: of a block at saturation. rate: at the fixed load, in requests/s."""

    clients: int
    requests: int
    rate: float = 0.0


def pilot(sides: dict[str, Blocks], batches: int, rows: int, load: float) -> Load:
    """Return the load that suits both sides, from how fast the base is; Unmeasured if it does not answer.

    batches: how many may run at once, rows: how many rows the largest has, on either side. There are clients for two batches
    on every instance, and for one more while answers travel.
    """
    clients = (2 * batches + 1) * rows
    least = LEAST_BATCHES * batches * rows
    requests = 2 * clients + least
    rates: list[float] = []
    for _ in range(PILOTS):
        for name in (BASE, NEW):
            block = sides[name].saturate(clients, requests)
            if block.failed == block.requests:
                raise Unmeasured(f"{name} answered none of {block.requests} requests")
            if name == BASE:
                rates.append(block.values["rows_per_s"])
        requests = 2 * clients + max(least, round(rates[-1] * BLOCK_S))
    return Load(clients, requests, load * statistics.median(rates))


@dataclass
class Duel:
    """A comparison under way. margin: see `stats.change`. seconds: how long it may measure. seed: of orders and arrivals.

    pairs: all that were made. answers: as far as they are known. plans: when each load's pairs are looked at.
    """

    sides: dict[str, Blocks]
    asked: Sequence[Question]
    load: Load
    margin: float
    seconds: float
    seed: int
    now: Callable[[], float] = time.monotonic
    pairs: list[Pair] = field(default_factory=list)
    answers: dict[str, Answer] = field(default_factory=dict)
    plans: dict[str, Plan] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Start with nothing measured."""
        self._coin = random.Random(self.seed)
        self._began = self.now()

    def run(self) -> Iterator[Pair]:
        """Yield one pair after another, until all is answered, one answer is SLOWER, or the time is over.

        `answers` then has every answer.
        """
        loads = list(dict.fromkeys(one.load for one in self.asked))
        while self._left() > 0 and (open_ := [load for load in loads if self._open(load)]):
            for load in open_:
                if self._left() <= 0 and self._open(load):
                    break
                began = self.now()
                pair = self._pair(load)
                if load not in self.plans:
                    self._plan(load, self.now() - began, len(loads))
                self.pairs.append(pair)
                yield pair
                self._look(load, over=False)
        for load in loads:
            self._look(load, over=True)

    def _pair(self, load: str) -> Pair:
        number = sum(one.load == load for one in self.pairs)
        order = [BASE, NEW]
        self._coin.shuffle(order)
        at_s = self.now() - self._began
        found = {name: self._block(self.sides[name], load, number) for name in order}
        return Pair(number, load, order[0], round(at_s, 3), found[BASE], found[NEW])

    def _block(self, side: Blocks, load: str, number: int) -> Block:
        if load == SATURATED:
            return side.saturate(self.load.clients, self.load.requests)
        return side.pace(self.load.rate, PACED_S, self.seed + number)  # both sides get the same arrivals

    def _plan(self, load: str, took_s: float, loads: int) -> None:
        """Fix the looks by how many pairs there may be time for: the length of a pair says nothing about who is faster."""
        most = max(1, round(MORE * self.seconds / max(took_s, 1e-3) / loads))
        self.plans[load] = Plan.up_to(most, each_of(CONFIDENCE, len(self.asked)))

    def _look(self, load: str, *, over: bool) -> None:
        """Answer the open questions about this load, where a look is due or it is the end. The last look is an end, too."""
        mine = [one for one in self.pairs if one.load == load]
        plan = self.plans.get(load, Plan.up_to(1))
        counted = sum(not one.dropped for one in mine)
        over = over or counted >= plan.looks[-1]
        if not over and counted not in plan.looks and not (mine and mine[-1].broken):
            return
        for question in self.asked:
            if question.load != load or question.name in self.answers:
                continue
            found = answer(question, mine, plan, self.margin, over=over)
            if over or found.change != UNPROVEN:
                self.answers[question.name] = found

    def _open(self, load: str) -> bool:
        if any(one.change == SLOWER for one in self.answers.values()):
            return False  # whatever the others will say, the new side has lost
        return any(one.load == load and one.name not in self.answers for one in self.asked)

    def _left(self) -> float:
        return self.seconds - (self.now() - self._began)
