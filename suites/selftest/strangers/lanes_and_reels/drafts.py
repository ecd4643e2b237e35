"""Guessed tokens, as many as were right lately, over blocks that are shared by a chain of hashes; recompute.

The drafter is right two times in three. Every text gets one token of the budget first, guesses share what is left, then
prompts. Guesses take blocks only where some are free. Full blocks are known by a hash of all tokens up to their end, and
only what the model has confirmed is known. Blocks come back tail first, so that a chain loses its end before its beginning.
"""
from collections import OrderedDict
from dataclasses import dataclass, field
from zlib import crc32

from batchproof.targets.witness.language import FIRST, next_token

from .opened import ended, target

CLAIMS = {
    "iterations": "stepped", "joins_within": 1, "admission": "arrival", "chunked_prefill": True, "mixed_iterations": True,
    "stall_free": True, "goes_on_within": 1, "preemption": "recompute", "keeps_place": True, "prefix_cache": True,
    "speculates": 3, "streaming": True, "streams_within": 1, "stop_tokens": True, "gauges": True, "cancel": True,
    "kv_blocks": True, "duplicate_ids": "refused",
}


@dataclass(eq=False)
class Job:
    """A request."""

    name: str
    tokens: list
    prompt: int
    max_tokens: int
    stop: tuple
    guesses: int = 2
    computed: int = 0
    blocks: list = field(default_factory=list)


class Engine:
    """The engine, without the model."""

    def __init__(self, cache, config):
        self.cache, self.size, self.sharing = cache, config.block_size, config.prefix_cache
        self.seqs, self.budget = min(config.max_num_seqs, config.max_num_batched_tokens), config.max_num_batched_tokens
        self.longest = min(config.max_model_len, config.num_blocks * config.block_size)
        self.total, self.free = config.num_blocks, OrderedDict.fromkeys(range(config.num_blocks))
        self.refs, self.key_of, self.known = [0] * config.num_blocks, {}, {}
        self.waiting, self.running = [], []
        self.preempted = self.prompts = self.texts = self.hits = 0

    @property
    def busy(self) -> bool:
        return bool(self.waiting or self.running)

    def knows(self, name):
        return any(one.name == name for one in (*self.waiting, *self.running))

    def add(self, request):
        self.waiting.append(Job(request.name, list(request.prompt), len(request.prompt), request.max_tokens, request.stop))

    def _take(self, block=None):
        if block is None:
            block, _ = self.free.popitem(last=False)
            if (key := self.key_of.pop(block, None)) is not None:
                del self.known[key]
        self.free.pop(block, None)
        self.refs[block] += 1
        return block

    def _give_back(self, blocks):
        for block in reversed(blocks):
            self.refs[block] -= 1
            if not self.refs[block]:
                self.free[block] = None

    def _hits(self, tokens):
        found, key = [], ()
        if self.sharing:
            for index in range((len(tokens) - 1) // self.size):
                key = hash((key, *tokens[index * self.size:(index + 1) * self.size]))
                if key not in self.known:
                    break
                found.append(self.known[key])
        return found

    def _register(self, one, computed):
        key = ()
        for index in range(computed // self.size if self.sharing else 0):
            key = hash((key, *one.tokens[index * self.size:(index + 1) * self.size]))
            block = one.blocks[index]
            if key not in self.known and block not in self.key_of:
                self.known[key], self.key_of[block] = block, key

    def step(self):
        displaced = False
        for one in list(self.running):
            if len(one.tokens) - one.computed != 1:
                continue
            while one in self.running and one.computed == len(one.blocks) * self.size:
                if self.free:
                    one.blocks.append(self._take())
                else:
                    self._displace()
                    displaced = True
        if not displaced:
            self._admit()
        texts = [one for one in self.running if len(one.tokens) - one.computed == 1 and len(one.tokens) > one.prompt]
        left = self.budget - len(texts)
        rows = []
        for one in texts:
            most = min(one.guesses, self.longest - len(one.tokens), one.prompt + one.max_tokens - len(one.tokens) - 1)
            guesses = self._guess(one, max(0, min(most, left)))
            left -= len(guesses)
            rows.append((one, guesses))
        for one in self.running:
            if one not in texts and left > 0:
                count = min(left, len(one.tokens) - one.computed)
                left -= count
                rows.append((one, count))
        return self._run(rows)

    def _guess(self, one, most):
        guesses = []
        while len(guesses) < most:
            if one.computed + len(guesses) + 1 == len(one.blocks) * self.size:
                if not self.free:
                    break
                one.blocks.append(self._take())
            guess = next_token([*one.tokens, *guesses])
            if crc32(f"{one.name} {len(one.tokens) + len(guesses)}".encode()) % 3 == 0:
                guess = FIRST + (guess + 5) % 4000
            guesses.append(guess)
        return guesses

    def _displace(self):
        one = self.running.pop()
        self._give_back(one.blocks)
        one.blocks, one.computed = [], 0
        self.waiting.insert(0, one)
        self.preempted += 1

    def _admit(self):
        while self.waiting and len(self.running) < self.seqs:
            one = self.waiting[0]
            hits = self._hits(one.tokens)
            need = -(-len(one.tokens) // self.size) - len(hits)
            if need > len(self.free) - sum(not self.refs[block] for block in hits):
                return
            one.blocks = [self._take(block) for block in hits]
            one.blocks += [self._take() for _ in range(need)]
            one.computed = len(hits) * self.size
            self.hits += one.computed
            self.running.append(self.waiting.pop(0))

    def _run(self, rows):
        out, given, counts = [], [], []
        for one, what in rows:
            guesses = what if isinstance(what, list) else None
            new = one.tokens[one.computed:one.computed + what] if guesses is None else [one.tokens[-1], *guesses]
            given.append((new, one.computed, one.blocks))
            counts.append(1 if guesses is None else len(new))
        verified = self.cache.verify(given, counts) if given else ()
        for (one, what), (new, start, _), follow in zip(rows, given, verified, strict=True):
            accepted = self._accepted(one, what, follow) if isinstance(what, list) else follow
            if not isinstance(what, list):
                one.computed += len(new)
                if one.computed < len(one.tokens):
                    self._register(one, one.computed)
                    continue
                self.prompts += one.prompt if len(one.tokens) == one.prompt else 0
            told, end = [], ""
            for token in accepted:
                one.tokens.append(token)
                told.append(token)
                end = ended(one, token, self.longest)
                if end:
                    break
            one.computed = start + len(told) if isinstance(what, list) else one.computed
            self._register(one, one.computed)
            self.texts += len(told)
            out.append((one.name, told, end))
            if end:
                self.running.remove(one)
                self._give_back(one.blocks)
        return out

    def _accepted(self, one, guesses, follow):
        right = 0
        while right < len(guesses) and guesses[right] == follow[right]:
            right += 1
        if guesses:
            one.guesses = min(3, one.guesses + 1) if right == len(guesses) else max(1, right)
        return follow[: right + 1]

    def abort(self, name):
        for queue in (self.waiting, self.running):
            for one in list(queue):
                if one.name == name:
                    queue.remove(one)
                    self._give_back(one.blocks)
                    return True
        return False

    def gauges(self):
        return {"running": len(self.running), "waiting": len(self.waiting), "used_blocks": self.total - len(self.free),
                "free_blocks": len(self.free), "preempted": self.preempted, "prompt_tokens": self.prompts,
                "output_tokens": self.texts, "cached_tokens": self.hits}


Target = target("drafts", Engine, CLAIMS)
