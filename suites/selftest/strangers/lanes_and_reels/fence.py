"""One iteration ahead: an iteration is formed before the tokens of the last one are known, and told one later.

What a request leaves behind may be in use by the iteration that is under way. So its blocks stay in limbo until that one is
over (reclamation by epochs).
"""
from dataclasses import dataclass, field
from itertools import count

from batchproof.targets import Unsupported

from .opened import ended, target

CLAIMS = {
    "iterations": "stepped", "joins_within": 3, "admission": "arrival", "chunked_prefill": True, "mixed_iterations": True,
    "preemption": "recompute", "keeps_place": True, "looks_ahead": 1, "streaming": True, "streams_within": 2,
    "stop_tokens": True, "gauges": True, "cancel": True, "kv_blocks": True, "duplicate_ids": "refused",
}


@dataclass(eq=False)
class Job:
    """A request. last: how many tokens it has at most. ahead: tokens that are made and not known yet."""

    name: str
    tokens: list
    prompt: int
    max_tokens: int
    last: int
    stop: tuple
    arrival: int
    computed: int = 0
    blocks: list = field(default_factory=list)
    ahead: list = field(default_factory=list)
    over: bool = False

    @property
    def all(self):
        return self.tokens + self.ahead


class Engine:
    """The engine, without the model."""

    def __init__(self, cache, config):
        if not config.chunked_prefill:
            raise Unsupported("prompts that are always computed in one iteration")
        self.cache, self.config, self.size = cache, config, config.block_size
        self.longest = min(config.max_model_len, config.num_blocks * config.block_size)
        self.free, self.limbo = list(range(config.num_blocks)), []
        self.waiting, self.running = [], []
        self.flying = []  # of the iteration that is under way: its jobs, and the token of each or None
        self.arrivals = count()
        self.preempted = 0

    @property
    def busy(self):
        return bool(self.waiting or self.running or self.flying)

    def knows(self, name):
        return any(job.name == name for job in self.waiting + self.running)

    def add(self, request):
        last = min(len(request.prompt) + request.max_tokens, self.longest)
        self.waiting.append(
            Job(request.name, list(request.prompt), len(request.prompt), request.max_tokens, last, tuple(request.stop),
                next(self.arrivals))
        )

    def gauges(self):
        free = len(self.free)
        return {"running": len(self.running), "waiting": len(self.waiting), "used_blocks": self.config.num_blocks - free,
                "free_blocks": free, "preempted": self.preempted}

    def abort(self, name):
        found = [job for job in self.waiting + self.running if job.name == name]
        for job in found:
            self._leave(job)
        return bool(found)

    def _leave(self, job):
        job.over = True
        (self.running if job in self.running else self.waiting).remove(job)
        self._release(job)

    def _release(self, job):
        (self.limbo if self.flying else self.free).extend(job.blocks)
        job.blocks, job.computed = [], 0

    def _displace(self):
        victim = max(self.running, key=lambda one: one.arrival)
        self.running.remove(victim)
        self._release(victim)
        self.waiting.append(victim)
        self.waiting.sort(key=lambda one: one.arrival)
        self.preempted += 1
        return victim

    def _formed(self):
        left, rows, displaced = self.config.max_num_batched_tokens, [], False
        for job in sorted(self.running, key=lambda one: one.arrival):
            count = min(left, len(job.all) - job.computed)
            if job not in self.running or not count or len(job.all) >= job.last:
                continue
            more = -(-(job.computed + count) // self.size) - len(job.blocks)
            while job in self.running and more > len(self.free) + len(self.limbo):
                victim = self._displace()
                rows, displaced = [row for row in rows if row[0] is not victim], True
            if job in self.running and more <= len(self.free):  # else it waits for what is in limbo
                job.blocks += [self.free.pop() for _ in range(more)]
                rows.append((job, count))
                left -= count
        while self.waiting and left and not displaced and len(self.running) < self.config.max_num_seqs:
            job = self.waiting[0]
            more = -(-len(job.all) // self.size)
            if more > len(self.free):
                break
            self.running.append(self.waiting.pop(0))
            job.blocks = [self.free.pop() for _ in range(more)]
            rows.append((job, min(left, len(job.all))))
            left -= rows[-1][1]
        return rows

    def _launched(self, rows):
        given = [(job.all[job.computed : job.computed + new], job.computed, job.blocks) for job, new in rows]
        tokens = self.cache.run(given)
        for (job, new), token in zip(rows, tokens, strict=True):
            job.computed += new
            made = job.computed == len(job.all)
            if made:
                job.ahead.append(token)
            yield job, token if made else None

    def step(self):
        rows = self._formed()
        known, self.flying = self.flying, list(self._launched(rows)) if rows else []
        over, self.limbo = self.limbo, []
        told = [output for job, token in known for output in self._settled(job, token)]
        self.free += over if self.flying else over + self.limbo
        self.limbo = self.limbo if self.flying else []
        return told

    def _settled(self, job, token):
        """The token of an iteration is known."""
        if job.over or token is None:
            return
        job.tokens.append(job.ahead.pop(0))
        end = ended(job, token, self.longest)
        if end:
            self._leave(job)
        yield job.name, (token,), end


Target = target("fence", Engine, CLAIMS)
