"""Decode first, a quota for prompts, fair queuing by tokens a client (VTC), recompute; tokens are told one step late.

A hash of its ID says whose a request is. A client that was idle is lifted to the least of the active ones. Texts go
first. While there are texts, prompts have half of the budget at most. Of the prompts under way, the one with least
left is first, but one that was passed by 8 times is first of all. The blocks of a whole prompt are taken at
admission. If a text finds no block, the youngest loses its own; it comes back before others are admitted.
"""
from dataclasses import dataclass, field
from zlib import crc32

from .opened import ended, target

CLAIMS = {
    "iterations": "stepped", "chunked_prefill": True, "mixed_iterations": True, "stall_free": True, "goes_on_within": 1,
    "preemption": "recompute", "streaming": True, "streams_within": 2, "stop_tokens": True, "gauges": True, "cancel": True,
    "kv_blocks": True, "duplicate_ids": "refused",
}


@dataclass(eq=False)
class Job:
    """A request."""

    name: str
    client: int
    tokens: list
    prompt: int
    max_tokens: int
    stop: tuple
    computed: int = 0
    passed: int = 0
    blocks: list = field(default_factory=list)


class Engine:
    """The engine, without the model."""

    def __init__(self, cache, config):
        self.model, self.size = cache.run, config.block_size
        self.seqs, self.budget = min(config.max_num_seqs, config.max_num_batched_tokens), config.max_num_batched_tokens
        self.longest = min(config.max_model_len, config.num_blocks * config.block_size)
        self.total, self.free = config.num_blocks, list(range(config.num_blocks))
        self.queues, self.served = {}, {}
        self.lost, self.running, self.pending, self.preempted = [], [], [], 0

    @property
    def busy(self) -> bool:
        return bool(self.pending or self.running or self.lost or any(self.queues.values()))

    def _under_way(self):
        return [*self.running, *self.lost, *(one for queue in self.queues.values() for one in queue)]

    def knows(self, name):
        return any(one.name == name for one in self._under_way()) or any(one[0] == name for one in self.pending)

    def add(self, request):
        client = crc32(request.name.encode()) % 3
        active = {one.client for one in self._under_way()}
        if client not in active:
            least = min((self.served.get(one, 0) for one in active), default=0)
            self.served[client] = max(self.served.get(client, 0), least)
        self.queues.setdefault(client, []).append(
            Job(request.name, client, list(request.prompt), len(request.prompt), request.max_tokens, request.stop))

    def step(self):
        made = self._iterate()
        out, self.pending = self.pending, made
        return out

    def _texts(self):
        rows, displaced = [], False
        for one in list(self.running):
            if one not in self.running or len(one.tokens) - one.computed != 1:
                continue
            if one.computed == len(one.blocks) * self.size:
                while not self.free and one in self.running:
                    self._displace()
                    displaced = True
                if one not in self.running:
                    continue
                one.blocks.append(self.free.pop())
            rows.append((one, 1))
        return [row for row in rows if row[0] in self.running], displaced

    def _iterate(self):
        rows, displaced = self._texts()
        left = self.budget - len(rows)
        if not displaced:
            self._admit()
        if rows:
            left = min(left, max(1, self.budget // 2))
        prompts = [one for one in self.running if len(one.tokens) - one.computed > 1 or (one, 1) not in rows]
        prompts.sort(key=lambda one: (one.passed < 8, len(one.tokens) - one.computed))
        for one in prompts:
            count = min(len(one.tokens) - one.computed, left)
            if count < 1:
                one.passed += 1
                continue
            one.passed = 0
            rows.append((one, count))
            left -= count
        return self._run(rows)

    def _displace(self):
        victim = self.running.pop()
        self.free += victim.blocks
        victim.blocks, victim.computed = [], 0
        self.lost.append(victim)
        self.lost.sort(key=lambda one: -len(one.tokens))
        self.preempted += 1

    def _admit(self):
        while len(self.running) < self.seqs:
            waiting = [client for client, queue in self.queues.items() if queue]
            if self.lost:
                queue = self.lost
            elif waiting:
                queue = self.queues[min(waiting, key=lambda client: (self.served.get(client, 0), client))]
            else:
                return
            one = queue[0]
            need = -(-len(one.tokens) // self.size)
            if need > len(self.free):
                return
            queue.pop(0)
            one.blocks = [self.free.pop() for _ in range(need)]
            if queue is not self.lost:
                self.served[one.client] = self.served.get(one.client, 0) + one.prompt
            self.running.append(one)

    def _run(self, rows):
        made = []
        given = [(one.tokens[one.computed:one.computed + count], one.computed, one.blocks) for one, count in rows]
        for (one, count), token in zip(rows, self.model(given) if given else (), strict=True):
            one.computed += count
            if one.computed < len(one.tokens):
                continue
            one.tokens.append(token)
            self.served[one.client] = self.served.get(one.client, 0) + 2
            end = ended(one, token, self.longest)
            made.append((one.name, [token], end))
            if end:
                self.running.remove(one)
                self.free += one.blocks
        return made

    def abort(self, name):
        for queue in (self.running, self.lost, *self.queues.values()):
            for one in list(queue):
                if one.name == name:
                    queue.remove(one)
                    self.free += one.blocks
                    self.pending = [told for told in self.pending if told[0] != name]
                    return True
        return False

    def gauges(self):
        last = sum(1 for told in self.pending if told[2])
        waiting = len(self.lost) + sum(map(len, self.queues.values()))
        return {"running": len(self.running) + last, "waiting": waiting, "used_blocks": self.total - len(self.free),
                "free_blocks": len(self.free), "preempted": self.preempted}


Target = target("quota", Engine, CLAIMS)
