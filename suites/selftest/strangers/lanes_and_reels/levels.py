"""A feedback queue with levels: a prompt joins the level of its length, and sinks the longer it is served.

Jobs are displaced between any two tokens, and swapped to the host. One that was not served for 24 iterations is raised to
the first level.
"""
from dataclasses import dataclass, field

from batchproof.targets import Unsupported

from .opened import ended, target

CLAIMS = {
    "iterations": "stepped", "chunked_prefill": True, "mixed_iterations": True, "preemption": "swap", "takes_turns": True,
    "ages": 24, "streaming": True, "streams_within": 1, "stop_tokens": True, "gauges": True, "cancel": True,
    "kv_blocks": True, "duplicate_ids": "refused",
}
QUANTA = (2, 4, 8, 16)
PATIENCE = 24


@dataclass(eq=False)
class Job:
    """A request."""

    name: str
    tokens: list
    prompt: int
    max_tokens: int
    stop: tuple
    level: int
    entered: int
    computed: int = 0
    blocks: list = field(default_factory=list)
    host: list = field(default_factory=list)  # what its blocks held when it was swapped out
    away: bool = False
    served: int = 0  # in this level
    last: int = 0  # iteration in which it was served or promoted


class Engine:
    """The engine, without the model."""

    def __init__(self, cache, config):
        if not config.chunked_prefill:
            raise Unsupported("prompts that are always computed in one iteration")
        self.cache, self.config, self.size = cache, config, config.block_size
        self.longest = min(config.max_model_len, config.num_blocks * config.block_size)
        self.free = list(range(config.num_blocks))
        self.queues = [[] for _ in QUANTA]
        self.names = set()
        self.iteration = 0
        self.swaps = 0

    @property
    def jobs(self):
        return [job for queue in self.queues for job in queue]

    @property
    def busy(self):
        return any(self.queues)

    def knows(self, name):
        return name in self.names

    def add(self, request):
        budget = self.config.max_num_batched_tokens
        iterations = -(-len(request.prompt) // min(budget, 4 * self.size))
        level = next((number for number, quantum in enumerate(QUANTA) if iterations <= quantum), len(QUANTA) - 1)
        job = Job(request.name, list(request.prompt), len(request.prompt), request.max_tokens, tuple(request.stop), level,
                  self.iteration, last=self.iteration)
        self.names.add(request.name)
        self.queues[level].append(job)

    def gauges(self):
        running = sum(bool(job.blocks) for job in self.jobs)
        free = len(self.free)
        return {"running": running, "waiting": len(self.jobs) - running, "used_blocks": self.config.num_blocks - free,
                "free_blocks": free, "preempted": self.swaps}

    def abort(self, name):
        for queue in self.queues:
            for job in queue:
                if job.name == name:
                    queue.remove(job)
                    self._leave(job)
                    return True
        return False

    def _leave(self, job):
        self.names.discard(job.name)
        self.free += job.blocks
        job.blocks, job.host = [], []

    def _swap_out(self, job):
        job.host = [self.cache.read(block) for block in job.blocks]
        self.free += job.blocks
        job.blocks, job.away = [], True
        self.swaps += 1

    def _room(self, job, count, spared):
        """Get the blocks for this job's next tokens, from those that come behind it."""
        back = len(job.host) if job.away else len(job.blocks)
        need = max(back, -(-(job.computed + count) // self.size)) - len(job.blocks)
        others = [one for one in reversed(self.jobs) if one.blocks and one is not job and one not in spared]
        if need > len(self.free) + sum(len(one.blocks) for one in others):
            return False
        while need > len(self.free):
            self._swap_out(others.pop(0))
        if job.away:
            job.blocks = [self.free.pop() for _ in job.host]
            for block, held in zip(job.blocks, job.host, strict=True):
                self.cache.write(block, held)
            job.host, job.away = [], False
        while len(job.blocks) * self.size < job.computed + count:
            job.blocks.append(self.free.pop())
        return True

    def _promote(self):
        for queue in self.queues[1:]:
            for job in list(queue):
                if self.iteration - job.last >= PATIENCE:
                    queue.remove(job)
                    self.queues[0].append(job)
                    job.level, job.served, job.last = 0, 0, self.iteration

    def step(self):
        if not self.busy:
            return []
        self.iteration += 1
        self._promote()
        left, rows = self.config.max_num_batched_tokens, []
        for job in self.jobs:
            if not left or len(rows) == self.config.max_num_seqs:
                break
            count = min(left, len(job.tokens) - job.computed)
            if self._room(job, count, [one for one, _ in rows]):
                rows.append((job, count))
                left -= count
        new = [(job.tokens[job.computed : job.computed + count], job.computed, job.blocks) for job, count in rows]
        tokens = self.cache.run(new)
        return [output for (job, count), token in zip(rows, tokens, strict=True) for output in self._made(job, count, token)]

    def _made(self, job, count, token):
        job.computed += count
        job.last = self.iteration
        job.served += 1
        if job.computed == len(job.tokens):
            job.tokens.append(token)
            end = ended(job, token, self.longest)
            yield job.name, (token,), end
            if end:
                self.queues[job.level].remove(job)
                self._leave(job)
                return
        if job.served >= QUANTA[job.level]:
            self.queues[job.level].remove(job)
            job.level, job.served = min(job.level + 1, len(QUANTA) - 1), 0
            self.queues[job.level].append(job)


Target = target("levels", Engine, CLAIMS)
