"""Continuous batching: the decisions of each iteration, as a state machine without threads and without a clock.

Everything that decides *which* sequences compute *how many* tokens together is in this file; `blocks` says who holds which
part of the KV cache. Nothing here runs a model or waits. A shell calls, in turn,

    schedule()                    returns what runs in the next iteration: rows of sequences with their new tokens and blocks
    finished(iteration, said)     takes what the model generated, and returns what comes out and what has ended

and between any two calls `add(request)` and `abort(name)`. If the model raised, it calls `failed(iteration)` instead.

How an iteration is formed. The token budget is max_num_batched_tokens.

    running first    Each running sequence, in the order of admission, computes what it has not computed: one token in most
                     cases (decode), or the next chunk of its prompt, as far as the budget reaches.
    preemption       If there is no block for its new tokens, the sequence that comes last in the order loses its blocks,
                     until there is one; that may be the sequence itself. A victim keeps its text, and computes it again.
    then waiting     In an iteration that preempts nobody, the first waiting sequence is admitted, and then the next, while
                     there are fewer than max_num_seqs, the budget is not used up, and the free blocks hold all its tokens.
                     A sequence that cannot be admitted blocks those behind it.
    chunked prefill  A prompt that is longer than the rest of the budget is computed in several iterations. Without chunked
                     prefill it waits for an iteration that has room for it. While there are other sequences, no iteration
                     has more than long_prefill_token_threshold tokens of a prompt, if that is set.
    prefix cache     An admitted sequence refers to the computed blocks that begin alike, and computes the rest: at least
                     its last token, because the model computes the next token from it.

The order is that of arrival (`fcfs`), or a lower priority number comes first, and arrival decides between equals
(`priority`). A waiting sequence never displaces a running one by itself, whatever their priorities.

How a sequence ends. With a stop token, which is part of the text (`stop`); at max_tokens, or when prompt and text have
max_model_len tokens (`length`); by `abort`; in the iteration in which the model raises (`error`). If the last token allowed
is a stop token, the end is `stop`. A sequence that ends gives its blocks back before the next iteration is formed.

Names and semantics follow vLLM's V1 scheduler (docs.vllm.ai: "Optimization and Tuning" for running before waiting,
preemption and chunked prefill; "Automatic Prefix Caching" for blocks and keys; `SchedulerConfig`).
docs/decisions/0025-continuous.md records what is decided here because that documentation does not say.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from collections.abc import Sequence as Many
from itertools import count

from .blocks import BlockPool, keys_of
from .config import EngineConfig
from .requests import Iteration, Request, Row, Said, Sequence


class Scheduler:
    """Waiting and running sequences in front of one model."""

    def __init__(self, config: EngineConfig) -> None:
        self.config = config
        self.pool = BlockPool(config.num_blocks)
        self.waiting: list[Sequence] = []  # in order
        self.running: list[Sequence] = []  # as they were admitted
        self._under_way: dict[str, list[Sequence]] = {}
        self._arrivals = count()
        self._numbers = count(1)
        self._counts = dict.fromkeys(("preempted", "prompt_tokens", "output_tokens", "cached_tokens"), 0)
        self._flying: Iteration | None = None

    @property
    def busy(self) -> bool:
        """Whether a request is under way."""
        return bool(self._under_way)

    def under_way(self, name: str) -> bool:
        """Whether a request of this name has not ended."""
        return name in self._under_way

    def add(self, request: Request) -> str | None:
        """Queue a request, or return why it is refused."""
        if refusal := next(self._refusals(request), None):
            return refusal
        sequences = [
            Sequence(request, sample, next(self._arrivals), list(request.prompt)) for sample in range(request.samples)
        ]
        self._under_way[request.name] = sequences
        for sequence in sequences:
            insort(self.waiting, sequence, key=self._order)
        return None

    def abort(self, name: str) -> list[Said]:
        """Abort a request, wherever it is; nothing happens if it is not under way.

        A sequence in the iteration that is running keeps its blocks until that has finished, because the model uses them.
        """
        flying = {row.sequence for row in self._flying.rows} if self._flying else set()
        said = []
        for sequence in self._under_way.pop(name, ()):
            sequence.end = "abort"
            (self.running if sequence in self.running else self.waiting).remove(sequence)
            if sequence not in flying:
                self._release(sequence)
            said.append(Said(name, sequence.sample, (), "abort"))
        return said

    def schedule(self) -> Iteration:
        """Return the next iteration; it has no rows if nothing can run."""
        if self._flying:
            raise RuntimeError("the last iteration has not finished")
        rows, preempted = self._continued()
        if not preempted:
            rows += self._admitted(self.config.max_num_batched_tokens - sum(len(row.tokens) for row in rows))
        self._flying = Iteration(next(self._numbers), tuple(rows), tuple(preempted))
        return self._flying

    def finished(self, iteration: Iteration, said: Many[int | None]) -> list[Said]:
        """Record that an iteration has run, and return what comes out.

        said: for each row the next token, or None if the row is not its sequence's last.
        """
        if iteration is not self._flying:
            raise RuntimeError("this iteration is not running")
        self._flying = None
        out = []
        for row, token in zip(iteration.rows, said, strict=True):
            row.sequence.computed = row.start + len(row.tokens)
            self._remember(row.sequence)
            if row.sequence.end:  # aborted meanwhile
                self._release(row.sequence)
            elif token is not None:
                out.append(self._said(row.sequence, token))
        return out

    def failed(self, iteration: Iteration) -> list[Said]:
        """Record that the model raised: the sequences in this iteration end, and no others."""
        self._flying = None
        alive = [row.sequence for row in iteration.rows if not row.sequence.end]
        for row in iteration.rows:
            if row.sequence in alive:
                self._end(row.sequence, "error")
            else:  # aborted meanwhile
                self._release(row.sequence)
        return [Said(one.request.name, one.sample, (), one.end) for one in alive]

    def gauges(self) -> dict[str, int]:
        """Return how many sequences run and wait, the state of the KV cache, and the counts so far."""
        now = {"running": len(self.running), "waiting": len(self.waiting)}
        return {**now, "used_blocks": self.pool.used, "free_blocks": len(self.pool.free), **self._counts}

    def _order(self, sequence: Sequence) -> tuple[int, int]:
        """Return who comes first: the least."""
        return (sequence.request.priority if self.config.policy == "priority" else 0, sequence.arrival)

    def _refusals(self, request: Request) -> Iterator[str]:
        """Yield why a request cannot be served."""
        config, prompt = self.config, len(request.prompt)
        if request.name in self._under_way:
            yield f"a request '{request.name}' is under way"
        if not prompt:
            yield "the prompt is empty"
        if request.max_tokens < 1:
            yield f"max_tokens must be at least 1, not {request.max_tokens}"
        if request.samples < 1:
            yield f"samples must be at least 1, not {request.samples}"
        if prompt + 1 > config.max_model_len:
            yield f"a prompt of {prompt} tokens leaves no room for another one: max_model_len is {config.max_model_len}"
        longest = min(prompt + request.max_tokens, config.max_model_len) - 1  # the last token is never computed
        if config.blocks_of(longest) > config.num_blocks:
            yield f"{longest} tokens need {config.blocks_of(longest)} blocks, and there are {config.num_blocks}"

    def _continued(self) -> tuple[list[Row], list[Sequence]]:
        """Return the rows of running sequences, and the sequences that were preempted for them."""
        rows: dict[Sequence, Row] = {}
        preempted: list[Sequence] = []
        budget = self.config.max_num_batched_tokens
        for sequence in tuple(self.running):
            new = min(len(sequence.tokens) - sequence.computed, budget, self._share())
            if sequence in preempted or not new:
                continue
            missing = self._missing(sequence, sequence.computed + new)
            while sequence not in preempted and not self.pool.room((), missing):
                victim = max(self.running, key=self._order)
                budget += len(rows.pop(victim).tokens) if victim in rows else 0
                self._preempt(victim)
                preempted.append(victim)
            if sequence not in preempted:
                rows[sequence] = self._row(sequence, new)
                budget -= new
        return list(rows.values()), preempted

    def _admitted(self, budget: int) -> list[Row]:
        """Admit waiting sequences, and return their rows."""
        rows: list[Row] = []
        while self.waiting and budget and len(self.running) < self.config.max_num_seqs:
            sequence = self.waiting[0]
            shared = self._shared(sequence)
            computed = len(shared) * self.config.block_size
            new = len(sequence.tokens) - computed
            if new > budget and not self.config.chunked_prefill:
                break
            if not self.pool.room(shared, self.config.blocks_of(len(sequence.tokens)) - len(shared)):
                break
            self.waiting.remove(sequence)
            self.running.append(sequence)
            self.pool.share(shared)
            sequence.blocks, sequence.computed = shared, computed
            self._counts["cached_tokens"] += computed
            rows.append(self._row(sequence, min(new, budget, self._share())))
            budget -= len(rows[-1].tokens)
        return rows

    def _share(self) -> int:
        """Return how many tokens of one sequence an iteration may have: all, if it has nobody to starve."""
        budget, most = self.config.max_num_batched_tokens, self.config.long_prefill_token_threshold
        return most if most and len(self.running) + len(self.waiting) > 1 else budget

    def _shared(self, sequence: Sequence) -> list[int]:
        """Return the computed blocks of this sequence's prefix, without the block of its last token."""
        if not self.config.prefix_cache:
            return []
        return self.pool.find(keys_of(sequence.tokens[:-1], self.config.block_size))

    def _missing(self, sequence: Sequence, tokens: int) -> int:
        """Return how many more blocks a sequence needs for this number of tokens."""
        return self.config.blocks_of(tokens) - len(sequence.blocks)

    def _row(self, sequence: Sequence, new: int) -> Row:
        """Allocate the blocks for a sequence's next tokens, and return its row."""
        start, stop = sequence.computed, sequence.computed + new
        sequence.blocks += self.pool.take(self._missing(sequence, stop))
        tokens = tuple(sequence.tokens[start:stop])
        return Row(sequence, start, tokens, tuple(sequence.blocks), stop == len(sequence.tokens))

    def _preempt(self, victim: Sequence) -> None:
        """Free a running sequence's blocks; it waits, and its tokens are computed again."""
        self.running.remove(victim)
        self._release(victim)
        insort(self.waiting, victim, key=self._order)
        self._counts["preempted"] += 1

    def _release(self, sequence: Sequence) -> None:
        self.pool.give_back(sequence.blocks)
        sequence.blocks, sequence.keys, sequence.computed = [], [], 0

    def _remember(self, sequence: Sequence) -> None:
        """Record in the prefix cache what the full blocks of a sequence hold."""
        if self.config.prefix_cache:
            known = len(sequence.keys)
            sequence.keys = keys_of(sequence.tokens[: sequence.computed], self.config.block_size, sequence.keys)
            for place in range(known, len(sequence.keys)):
                self.pool.keep(sequence.blocks[place], sequence.keys[place])

    def _said(self, sequence: Sequence, token: int) -> Said:
        """Append a sequence's next token, and end the sequence if it is the last one."""
        request = sequence.request
        if not sequence.text:
            self._counts["prompt_tokens"] += len(request.prompt)
        sequence.tokens.append(token)
        self._counts["output_tokens"] += 1
        if token in request.stop:
            self._end(sequence, "stop")
        elif sequence.text >= request.max_tokens or len(sequence.tokens) >= self.config.max_model_len:
            self._end(sequence, "length")
        return Said(request.name, sequence.sample, (token,), sequence.end)

    def _end(self, sequence: Sequence, why: str) -> None:
        """End a running sequence: free its row and its blocks, and its name if no other sample is left."""
        sequence.end = why
        self.running.remove(sequence)
        self._release(sequence)
        others = self._under_way[sequence.request.name]
        others.remove(sequence)
        if not others:
            del self._under_way[sequence.request.name]
