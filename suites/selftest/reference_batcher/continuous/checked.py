"""A scheduler that is watched: after each call the laws of an engine must hold, and the model reads its context back."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING

from batchproof.reference_batcher.continuous import EngineConfig, Iteration, Request, Scheduler
from batchproof.targets.witness.language import continuation, next_token

if TYPE_CHECKING:
    from batchproof.reference_batcher.continuous import Said
    from batchproof.reference_batcher.continuous.requests import Sequence

END = {"length", "stop", "abort"}


class Checked:
    """Steps a scheduler; AssertionError if a law is broken.

    The KV cache is a list of places, each of which holds the token and the place that was written last.
    """

    def __init__(self, config: EngineConfig) -> None:
        self.config = config
        self.scheduler = Scheduler(config)
        self.cache: list[tuple[int, int] | None] = [None] * (config.num_blocks * config.block_size)
        self.asked: dict[str, Request] = {}
        self.texts: dict[tuple[str, int], list[int]] = {}
        self.ends: dict[tuple[str, int], str] = {}
        self.flying: Iteration | None = None
        self.steps = 0
        self.preempted = 0

    @property
    def bound(self) -> int:
        """How many iterations are enough for all that was asked for, however often it is preempted."""
        lengths = [(len(one.prompt) + one.max_tokens) for one in self.asked.values() for _ in range(one.samples)]
        return sum(lengths) * (len(lengths) + 1)

    def add(self, request: Request) -> str | None:
        """Add a request, and note what it must say."""
        refusal = self.scheduler.add(request)
        if refusal is None:
            assert request.name not in self.asked
            self.asked[request.name] = request
            self.texts.update({(request.name, sample): [] for sample in range(request.samples)})
        self.consistent()
        return refusal

    def abort(self, name: str) -> None:
        """Take a request back."""
        self.hear(self.scheduler.abort(name))
        self.consistent()

    def begin(self) -> None:
        """Form an iteration, and look at it."""
        before = list(self.scheduler.running)
        queue = list(self.scheduler.waiting)
        self.flying = self.scheduler.schedule()
        self.formed(self.flying, before, queue)
        self.consistent()

    def end(self) -> None:
        """Run the iteration: all rows are written, and then all contexts are read."""
        assert self.flying is not None
        for row in self.flying.rows:
            for place, token in enumerate(row.tokens, row.start):
                self.cache[self.slot(row.blocks, place)] = (token, place)
        said = [self.next(row.blocks, row.start + len(row.tokens)) if row.last else None for row in self.flying.rows]
        self.hear(self.scheduler.finished(self.flying, said))
        self.steps += bool(said)
        self.flying = None
        self.consistent()

    def finish(self) -> None:
        """Run to the end: it is near, and every text is right."""
        if self.flying:
            self.end()
        while self.scheduler.busy:
            assert self.steps <= self.bound, "no progress"
            self.begin()
            self.end()
        assert self.scheduler.pool.used == 0
        assert set(self.ends) == set(self.texts)
        for (name, sample), text in self.texts.items():
            assert text == self.expected(self.asked[name], self.ends[name, sample], len(text)), (name, sample)

    def expected(self, request: Request, end: str, count: int) -> list[int]:
        """Return the text that a request owes, or its first `count` tokens if it was aborted."""
        most = min(request.max_tokens, self.config.max_model_len - len(request.prompt))
        whole = list(continuation(request.prompt, most))
        stops = [place for place, token in enumerate(whole) if token in request.stop]
        whole = whole[: stops[0] + 1] if stops else whole
        assert end in {"abort", "stop" if stops else "length"}
        return whole[:count] if end == "abort" else whole

    def hear(self, said: list[Said]) -> None:
        """Note what comes out: nothing comes after an end."""
        for one in said:
            key = (one.name, one.sample)
            assert key not in self.ends
            assert one.end in END | {""}
            self.texts[key] += one.tokens
            if one.end:
                self.ends[key] = one.end

    def slot(self, blocks: tuple[int, ...], place: int) -> int:
        """Return where a place is in the cache."""
        return blocks[place // self.config.block_size] * self.config.block_size + place % self.config.block_size

    def next(self, blocks: tuple[int, ...], count: int) -> int:
        """Read a context back, each token of which is in its place, and return the next token."""
        held = [self.cache[self.slot(blocks, place)] for place in range(count)]
        assert [one and one[1] for one in held] == list(range(count))
        return next_token([one[0] for one in held if one])

    def formed(self, iteration: Iteration, before: list[Sequence], queue: list[Sequence]) -> None:
        """The limit, the budget, the orders, and that nobody is held back without a reason."""
        config, scheduler, order = self.config, self.scheduler, self.scheduler._order
        rows, victims = iteration.rows, iteration.preempted
        left = config.max_num_batched_tokens - sum(len(row.tokens) for row in rows)
        self.preempted += len(victims)
        assert len({row.sequence for row in rows}) == len(rows) <= config.max_num_seqs
        assert left >= 0
        assert rows or not scheduler.busy
        assert scheduler.running == [one for one in before if one not in victims] + [
            one for one in queue if one in scheduler.running
        ]
        for row in rows:
            assert row.tokens
            assert row.start == row.sequence.computed
            assert row.blocks == tuple(row.sequence.blocks)
            assert len(row.blocks) == config.blocks_of(row.start + len(row.tokens))
            assert row.last == (row.start + len(row.tokens) == len(row.sequence.tokens))
        cut = [row.sequence for row in rows if not row.last]
        assert cut in ([], scheduler.running[-1:]), "only the last one may be in the middle of its prompt"
        assert not cut or (config.chunked_prefill and (victims or not left))  # what a victim gives back may be left over
        for victim in victims:
            before.remove(victim)
            assert all(order(victim) > order(one) for one in before), "the victim is the last of them"
        admitted = [one for one in scheduler.running if one in queue]
        assert admitted == queue[: len(admitted)], "nobody is passed"
        assert not (admitted and victims)
        assert {row.sequence for row in rows} == set(scheduler.running)
        if scheduler.waiting and not victims and left and len(rows) < config.max_num_seqs:
            head = scheduler.waiting[0]
            shared = scheduler._shared(head)
            missing = config.blocks_of(len(head.tokens)) - len(shared)
            free = len(set(scheduler.pool.free) - set(shared))
            long = len(head.tokens) - len(shared) * config.block_size > left
            assert missing > free or (long and not config.chunked_prefill), "the first one could have been admitted"

    def consistent(self) -> None:
        """Every block is free or somebody's, as often as it is counted; tables share only what is full and computed."""
        scheduler, pool = self.scheduler, self.scheduler.pool
        flying = [row.sequence for row in self.flying.rows if row.sequence.end == "abort"] if self.flying else []
        holders = [*scheduler.running, *flying]
        counted = Counter(block for one in holders for block in one.blocks)
        assert pool.references == [counted[block] for block in range(self.config.num_blocks)]
        assert set(pool.free) == {block for block in range(self.config.num_blocks) if not counted[block]}
        assert not any(one.blocks or one.computed for one in scheduler.waiting)
        assert scheduler.waiting == sorted(scheduler.waiting, key=scheduler._order)
        shared = {block for block, times in counted.items() if times > 1}
        assert not shared or self.config.prefix_cache
        for one in holders if shared else ():
            for place, block in enumerate(one.blocks):
                end = (place + 1) * self.config.block_size
                assert block not in shared or pool._key_of.get(block), "a shared block has a key"
                assert block not in shared or end <= one.computed
        gauges = scheduler.gauges()
        assert (gauges["running"], gauges["waiting"]) == (len(scheduler.running), len(scheduler.waiting))
        assert gauges["used_blocks"] + gauges["free_blocks"] == self.config.num_blocks
        assert gauges["output_tokens"] == sum(map(len, self.texts.values()))
        assert gauges["preempted"] == self.preempted


def config_of(draw: Random) -> EngineConfig:
    """Any small configuration."""
    most, rows = draw.choice((8, 16, 24)), draw.choice((1, 2, 2, 3, 4))
    chunked, size = draw.random() < 0.7, draw.choice((1, 2, 3, 4, 8))
    return EngineConfig(
        max_num_seqs=rows,
        max_num_batched_tokens=draw.choice((rows, rows + 1, rows + 3, 16)) if chunked else most + draw.choice((0, 8)),
        block_size=size,
        num_blocks=draw.choice((3, 8, 30, most // size, most // size + 1, most // size + 2)),
        max_model_len=most,
        chunked_prefill=chunked,
        prefix_cache=draw.random() < 0.6,
        policy=draw.choice(("fcfs", "fcfs", "priority")),
    )


def request_of(draw: Random, name: str) -> Request:
    """Any small request; a few are refused. Many begin alike, and some are equal."""
    length = draw.choice((0, 1, 2, 3, 4, 5, 6, 8, 9, 12, 15))
    same = draw.choice((0, 0, length // 2, length))
    prompt = tuple(100 + place if place < same else draw.randint(1, 99) for place in range(length))
    most = draw.choice((1, 1, 2, 3, 5, 8))
    stop = continuation(prompt, most)[draw.randint(0, most - 1) :][:1] if draw.random() < 0.2 and prompt else ()
    return Request(name, prompt, most, draw.randint(0, 2), stop, draw.choice((1, 1, 1, 1, 2, 3)))
