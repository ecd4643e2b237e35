"""Priorities with aging, whole prompts, swap to the host with a resume order of its own, slots with generations.

A waiting request gains a level every 64 iterations. What is swapped out comes back before anybody is admitted: the smallest
first, and a larger one is first once it has waited for 32 iterations longer. The host keeps the full blocks of a request
that was swapped out before, and copies only the others. A text's end is told by the step behind its last token, which
gives its blocks and its slot back.
"""
from dataclasses import dataclass, field

from .opened import ended, target

CLAIMS = {
    "iterations": "stepped", "joins_within": 1, "admission": "arrival", "mixed_iterations": True, "stall_free": True,
    "goes_on_within": 1, "request_priorities": "admission", "ages": 64, "preemption": "swap", "streaming": True,
    "streams_within": 1, "stop_tokens": True, "gauges": True, "cancel": True, "kv_blocks": True, "duplicate_ids":
    "refused",
}


@dataclass(eq=False)
class Job:
    """A request."""

    name: str
    number: int
    priority: int
    tokens: list
    prompt: int
    max_tokens: int
    stop: tuple
    since: int = 0
    computed: int = 0
    blocks: list = field(default_factory=list)
    host: list = field(default_factory=list)
    kept: list = field(default_factory=list)
    slot: int = -1
    generation: int = 0
    end: str = ""


class Engine:
    """The engine, without the model."""

    def __init__(self, cache, config):
        self.cache, self.size = cache, config.block_size
        self.seqs, self.budget = min(config.max_num_seqs, config.max_num_batched_tokens), config.max_num_batched_tokens
        self.longest = min(config.max_model_len, config.num_blocks * config.block_size)
        self.levels = config.policy == "priority"
        self.total, self.free = config.num_blocks, list(range(config.num_blocks))
        self.slots, self.generations = list(range(self.seqs)), [0] * self.seqs
        self.waiting, self.running, self.swapped, self.done = [], [], [], []
        self.number = self.now = self.preempted = self.prompts = self.texts = 0

    @property
    def busy(self) -> bool:
        return bool(self.waiting or self.running or self.swapped or self.done)

    def knows(self, name):
        return any(one.name == name for one in (*self.waiting, *self.running, *self.swapped, *self.done))

    def add(self, request):
        self.number += 1
        self.waiting.append(Job(request.name, self.number, request.priority if self.levels else 0, list(request.prompt),
                                len(request.prompt), request.max_tokens, request.stop, self.now))

    def _give_back(self, one):
        self.free += one.blocks
        if one.generation == self.generations[one.slot]:
            self.slots.append(one.slot)

    def _take_slot(self, one):
        one.slot = self.slots.pop(0)
        self.generations[one.slot] += 1
        one.generation = self.generations[one.slot]

    def step(self):
        self.now += 1
        out = []
        for one in self.done:
            out.append((one.name, [], one.end))
            self._give_back(one)
        self.done = []
        displaced = self._grow()
        left = self.budget - len(self.running)
        if not displaced:
            left = self._come_back(left)
            self._admit(left)
        return self._run(out)

    def _grow(self):
        displaced = False
        for one in sorted(self.running, key=lambda one: (one.priority, one.number)):
            if one not in self.running:
                continue
            while one.computed == len(one.blocks) * self.size and one in self.running:
                if self.free:
                    one.blocks.append(self.free.pop())
                else:
                    self._swap_out(max(self.running, key=lambda one: (one.priority, one.number)))
                    displaced = True
        return displaced

    def _run(self, out):
        rows = [(one, len(one.tokens) - one.computed) for one in self.running]
        given = [(one.tokens[one.computed:], one.computed, one.blocks) for one, _ in rows]
        for (one, count), token in zip(rows, self.cache.run(given) if given else (), strict=True):
            one.computed += count
            if len(one.tokens) == one.prompt:
                self.prompts += one.prompt
            one.tokens.append(token)
            self.texts += 1
            out.append((one.name, [token], ""))
            one.end = ended(one, token, self.longest)
            if one.end:
                self.running.remove(one)
                self.done.append(one)
        return out

    def _swap_out(self, one):
        whole = one.computed // self.size
        known = one.kept
        one.host = [*known, *(self.cache.read(block) for block in one.blocks[len(known):])]
        one.kept = one.host[:whole]
        self.running.remove(one)
        self._give_back(one)
        one.blocks, one.since = [], self.now
        self.swapped.append(one)
        self.preempted += 1

    def _come_back(self, left):
        while self.swapped and self.slots and left:
            one = min(self.swapped, key=lambda one: (-((self.now - one.since) // 32), len(one.host), one.number))
            need = one.computed // self.size + 1
            if need > len(self.free):
                break
            self.swapped.remove(one)
            one.blocks = [self.free.pop() for _ in range(need)]
            for block, held in zip(one.blocks, one.host, strict=False):
                self.cache.write(block, held)
            one.host = []
            self._take_slot(one)
            self.running.append(one)
            left -= 1
        return left

    def _admit(self, left):
        while self.waiting and self.slots and not self.swapped:
            one = min(self.waiting, key=lambda one: (one.priority - (self.now - one.since) // 64, one.number))
            need = -(-one.prompt // self.size)
            if need > len(self.free) or one.prompt > left:
                return
            left -= one.prompt
            self.waiting.remove(one)
            one.blocks = [self.free.pop() for _ in range(need)]
            self._take_slot(one)
            self.running.append(one)

    def abort(self, name):
        for queue in (self.waiting, self.swapped, self.running):
            for one in list(queue):
                if one.name == name:
                    queue.remove(one)
                    if queue is self.running:
                        self._give_back(one)
                    return True
        return False

    def gauges(self):
        return {"running": len(self.running) + len(self.done), "waiting": len(self.waiting) + len(self.swapped),
                "used_blocks": self.total - len(self.free), "free_blocks": len(self.free), "preempted": self.preempted,
                "prompt_tokens": self.prompts, "output_tokens": self.texts}


Target = target("aging", Engine, CLAIMS)
