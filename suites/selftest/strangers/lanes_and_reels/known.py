"""The longest known beginning first: who begins as the prefix cache knows is admitted before others, eight times at most.

A prompt that begins as one that is being computed waits until that one is known. Blocks that nobody refers to are used again
in the order in which they became free, those without a key first.
"""
from dataclasses import dataclass, field
from itertools import count

from batchproof.targets import Unsupported

from .opened import ended, target

PATIENCE = 8
CLAIMS = {
    "iterations": "stepped", "chunked_prefill": True, "mixed_iterations": True, "preemption": "recompute",
    "prefix_cache": True, "streaming": True, "streams_within": 1, "stop_tokens": True, "gauges": True, "cancel": True,
    "kv_blocks": True, "duplicate_ids": "refused",
}


@dataclass(eq=False)
class Job:
    """A request. passed: how often a later one was admitted before it."""

    name: str
    tokens: list
    prompt: int
    max_tokens: int
    stop: tuple
    arrival: int
    computed: int = 0
    blocks: list = field(default_factory=list)
    passed: int = 0


class Pool:
    """Blocks, who refers to them, and what they hold."""

    def __init__(self, blocks, size):
        self.size = size
        self.refs = [0] * blocks
        self.free = dict.fromkeys(range(blocks))  # in the order in which they are used again
        self.block_of, self.key_of = {}, {}

    def keys(self, tokens):
        """Return the key of each whole block: its tokens, and the key of the one before it."""
        keys = [None]
        for start in range(0, len(tokens) - self.size + 1, self.size):
            keys.append((keys[-1], tuple(tokens[start : start + self.size])))
        return keys[1:]

    def find(self, tokens):
        """Return the blocks that hold a beginning of these tokens, without the last token."""
        found = []
        for key in self.keys(tokens[:-1]):
            if key not in self.block_of:
                break
            found.append(self.block_of[key])
        return found

    def hold(self, blocks):
        for block in blocks:
            self.refs[block] += 1
            self.free.pop(block, None)

    def take(self):
        block = next(iter(self.free))
        self.block_of.pop(self.key_of.pop(block, None), None)
        self.hold([block])
        return block

    def drop(self, blocks):
        for block in reversed(blocks):
            self.refs[block] -= 1
            if not self.refs[block]:
                self.free = {**self.free, block: None} if block in self.key_of else {block: None, **self.free}

    def keep(self, tokens, blocks):
        """Remember what whole blocks hold."""
        for key, block in zip(self.keys(tokens), blocks, strict=False):
            if key not in self.block_of:
                self.block_of[key], self.key_of[block] = block, key


class Engine:
    """The engine, without the model."""

    def __init__(self, cache, config):
        if not config.chunked_prefill:
            raise Unsupported("prompts that are always computed in one iteration")
        self.cache, self.config, self.size = cache, config, config.block_size
        self.longest = min(config.max_model_len, config.num_blocks * config.block_size)
        self.pool = Pool(config.num_blocks, config.block_size)
        self.waiting, self.running = [], []
        self.arrivals = count()
        self.preempted = self.cached = 0

    @property
    def busy(self):
        return bool(self.waiting or self.running)

    def knows(self, name):
        return any(job.name == name for job in self.waiting + self.running)

    def add(self, request):
        self.waiting.append(
            Job(request.name, list(request.prompt), len(request.prompt), request.max_tokens, tuple(request.stop),
                next(self.arrivals))
        )

    def gauges(self):
        free = len(self.pool.free)
        return {"running": len(self.running), "waiting": len(self.waiting), "used_blocks": self.config.num_blocks - free,
                "free_blocks": free, "preempted": self.preempted, "cached_tokens": self.cached}

    def abort(self, name):
        found = [job for job in self.waiting + self.running if job.name == name]
        for job in found:
            (self.running if job in self.running else self.waiting).remove(job)
            self.pool.drop(job.blocks)
        return bool(found)

    def _displace(self, job):
        self.running.remove(job)
        self.pool.drop(job.blocks)
        job.blocks, job.computed, job.passed = [], 0, PATIENCE
        self.preempted += 1
        self.waiting.append(job)

    def _known(self, job):
        return self.pool.find(job.tokens) if self.config.prefix_cache else []

    def _order(self, job):
        return (job.passed < PATIENCE, 0 if job.passed >= PATIENCE else -len(self._known(job)), job.arrival)

    def _is_computed(self, job):
        """Whether somebody computes more of its beginning at this moment than is known."""
        mine, known = self.pool.keys(job.tokens[:-1]), len(self._known(job))
        leaders = [one for one in self.running if one.computed < one.prompt]
        return self.config.prefix_cache and any(
            mine[: known + 1] == self.pool.keys(one.tokens[: one.prompt])[: known + 1] != mine[:known] for one in leaders
        )

    def _admit(self, left):
        """Let in one more, and return it, if there is room for the first one that need not wait for another."""
        job = next((one for one in sorted(self.waiting, key=self._order) if not self._is_computed(one)), None)
        if job is None or not left or len(self.running) == self.config.max_num_seqs:
            return None
        known = self._known(job)
        more = -(-len(job.tokens) // self.size) - len(known)
        if more > len(self.pool.free) - sum(block in self.pool.free for block in known):
            return None
        self.waiting.remove(job)
        self.running.append(job)
        self.pool.hold(known)
        job.blocks, job.computed = known + [self.pool.take() for _ in range(more)], len(known) * self.size
        self.cached += job.computed
        for one in self.waiting:
            one.passed += one.arrival < job.arrival
        return job

    def step(self):
        left, rows, displaced = self.config.max_num_batched_tokens, [], False
        for job in sorted(self.running, key=lambda one: one.arrival):
            count = min(left, len(job.tokens) - job.computed)
            while job in self.running and -(-(job.computed + count) // self.size) - len(job.blocks) > len(self.pool.free):
                self._displace(max(self.running, key=lambda one: one.arrival))
                displaced = True
            if job in self.running and count:
                while len(job.blocks) * self.size < job.computed + count:
                    job.blocks.append(self.pool.take())
                rows.append((job, count))
                left -= count
        while not displaced and (job := self._admit(left)):
            rows.append((job, min(left, len(job.tokens) - job.computed)))
            left -= rows[-1][1]
        if not rows:
            return []
        given = [(job.tokens[job.computed : job.computed + new], job.computed, job.blocks) for job, new in rows]
        tokens = self.cache.run(given)
        return [output for (job, new), token in zip(rows, tokens, strict=True) for output in self._made(job, new, token)]

    def _made(self, job, new, token):
        job.computed += new
        if self.config.prefix_cache:
            self.pool.keep(job.tokens[: job.computed], job.blocks)
        if job.computed == len(job.tokens):
            job.tokens.append(token)
            end = ended(job, token, self.longest)
            if end:
                self.running.remove(job)
                self.pool.drop(job.blocks)
            yield job.name, (token,), end


Target = target("known", Engine, CLAIMS)
