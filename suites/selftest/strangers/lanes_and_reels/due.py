"""The earliest deadline first: a request is due two iterations after its arrival for each level of its priority.

One that is due earlier displaces another. Continuations are forked from their prompt, and share its blocks until one of
them writes.
"""
from dataclasses import dataclass, field
from itertools import count

from batchproof.targets import Unsupported

from .opened import Refused, ended, target

SLACK = 2
CLAIMS = {
    "iterations": "stepped", "joins_within": 1, "admission": "arrival", "chunked_prefill": True, "mixed_iterations": True,
    "preemption": "recompute", "keeps_place": True, "request_priorities": "preempting", "ages": SLACK, "samples": True,
    "streaming": True, "streams_within": 1, "stop_tokens": True, "gauges": True, "cancel": True, "kv_blocks": True,
    "duplicate_ids": "refused",
}


@dataclass(eq=False)
class Job:
    """A continuation, or a prompt from which several are forked."""

    name: str
    sample: int
    tokens: list
    prompt: int
    max_tokens: int
    stop: tuple
    due: int
    arrival: int
    samples: int = 1  # how many are forked when the prompt is computed
    computed: int = 0
    blocks: list = field(default_factory=list)

    @property
    def key(self):
        return self.due, self.arrival, self.sample


class Pool:
    """Blocks, and how many refer to each."""

    def __init__(self, cache, blocks, size):
        self.cache, self.size = cache, size
        self.refs = [0] * blocks
        self.free = list(range(blocks))

    def take(self):
        block = self.free.pop()
        self.refs[block] = 1
        return block

    def drop(self, blocks):
        for block in blocks:
            self.refs[block] -= 1
            if not self.refs[block]:
                self.free.append(block)

    def need(self, job, count):
        """Return how many blocks a job's next tokens need."""
        new = -(-(job.computed + count) // self.size) - len(job.blocks)
        return new + self._shared(job)

    def _shared(self, job):
        at = job.computed // self.size
        return at < len(job.blocks) and self.refs[job.blocks[at]] > 1

    def write(self, job, count):
        """Make room for a job's next tokens, in blocks of its own."""
        if self._shared(job):
            at = job.computed // self.size
            mine, theirs = self.take(), job.blocks[at]
            self.cache.write(mine, self.cache.read(theirs))
            self.drop([theirs])
            job.blocks[at] = mine
        while len(job.blocks) * self.size < job.computed + count:
            job.blocks.append(self.take())


class Engine:
    """The engine, without the model."""

    def __init__(self, cache, config):
        if not config.chunked_prefill:
            raise Unsupported("prompts that are always computed in one iteration")
        self.cache, self.config, self.size = cache, config, config.block_size
        self.longest = min(config.max_model_len, config.num_blocks * config.block_size)
        self.pool = Pool(cache, config.num_blocks, config.block_size)
        self.waiting, self.running = [], []
        self.now = 0
        self.arrivals = count()
        self.preempted = 0

    @property
    def busy(self):
        return bool(self.waiting or self.running)

    def knows(self, name):
        return any(job.name == name for job in self.waiting + self.running)

    def add(self, request):
        if request.samples > self.config.max_num_seqs:
            raise Refused("so many continuations never run together")
        blocks = -(-min(len(request.prompt) + request.max_tokens, self.longest) // self.size)
        if request.samples > 1 and request.samples * blocks > self.config.num_blocks:
            raise Refused("so many continuations never fit together")
        priority = request.priority if self.config.policy == "priority" else 0
        self.waiting.append(
            Job(request.name, 0, list(request.prompt), len(request.prompt), request.max_tokens, tuple(request.stop),
                self.now + SLACK * priority, next(self.arrivals), request.samples)
        )

    def gauges(self):
        free = len(self.pool.free)
        return {"running": len(self.running), "waiting": len(self.waiting), "used_blocks": self.config.num_blocks - free,
                "free_blocks": free, "preempted": self.preempted}

    def abort(self, name):
        found = [job for job in self.waiting + self.running if job.name == name]
        for job in found:
            (self.running if job in self.running else self.waiting).remove(job)
            self.pool.drop(job.blocks)
        return bool(found)

    def _displace(self, job):
        self.running.remove(job)
        self.pool.drop(job.blocks)
        job.blocks, job.computed = [], 0
        self.preempted += 1
        self.waiting.append(job)

    def _places(self):
        """Return how many places are free; a prompt keeps one for each continuation."""
        return self.config.max_num_seqs - sum(job.samples for job in self.running)

    def _admit(self):
        """Let in who is due first; one that is due later makes way."""
        while self.waiting:
            job = min(self.waiting, key=lambda one: one.key)
            behind = sorted((one for one in self.running if one.key > job.key), key=lambda one: one.key)
            if self._places() + sum(one.samples for one in behind) < job.samples:
                return
            blocks = -(-len(job.tokens) // self.size)
            theirs = sum(self.pool.refs[block] == 1 for one in behind for block in one.blocks)
            if len(self.pool.free) + theirs < blocks:
                return
            while self._places() < job.samples or len(self.pool.free) < blocks:
                if self.config.policy != "priority":
                    return
                self._displace(behind.pop())
            self.waiting.remove(job)
            self.running.append(job)
            job.blocks = [self.pool.take() for _ in range(blocks)]

    def step(self):
        if not self.busy:
            return []
        self.now += 1
        self._admit()
        left, rows = self.config.max_num_batched_tokens, []
        ready = [job for job in self.running if len(job.tokens) - job.computed == 1]
        for job in sorted(ready, key=lambda one: one.key) + sorted(set(self.running) - set(ready), key=lambda one: one.key):
            if job not in self.running or not left:
                continue
            count = min(left, len(job.tokens) - job.computed)
            while job in self.running and self.pool.need(job, count) > len(self.pool.free):
                last = max(self.running, key=lambda one: one.key)
                left += sum(count for one, count in rows if one is last)
                rows = [row for row in rows if row[0] is not last]
                self._displace(last)
            if job in self.running:
                self.pool.write(job, count)
                rows.append((job, count))
                left -= count
        if not rows:
            return []
        new = [(job.tokens[job.computed : job.computed + count], job.computed, job.blocks) for job, count in rows]
        tokens = self.cache.run(new)
        return [output for (job, count), token in zip(rows, tokens, strict=True) for output in self._made(job, count, token)]

    def _made(self, job, count, token):
        job.computed += count
        if job.computed < len(job.tokens):
            return
        for one in self._forked(job):
            one.tokens.append(token)
            end = ended(one, token, self.longest)
            if end:
                self.running.remove(one)
                self.pool.drop(one.blocks)
            yield one.name, (token,), end, one.sample

    def _forked(self, job):
        """Return a job and its further continuations, which share its blocks."""
        found = [job]
        for sample in range(1, job.samples):
            for block in job.blocks:
                self.pool.refs[block] += 1
            found.append(
                Job(job.name, sample, list(job.tokens), job.prompt, job.max_tokens, job.stop, job.due, job.arrival,
                    computed=job.computed, blocks=list(job.blocks))
            )
        job.samples = 1
        self.running += found[1:]
        return found


Target = target("due", Engine, CLAIMS)
