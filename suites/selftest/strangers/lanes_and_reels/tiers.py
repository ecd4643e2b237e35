"""Hashed pages on the device, and a host tier behind them: what the device forgets goes there, and comes back if needed.

A page is known by all tokens up to its end. A request for which pages come back from the host runs one step later.
"""
from collections import OrderedDict
from dataclasses import dataclass, field

from batchproof.targets import Unsupported

from .opened import ended, target

CLAIMS = {
    "iterations": "stepped", "joins_within": 2, "admission": "arrival", "chunked_prefill": True, "mixed_iterations": True,
    "stall_free": True, "preemption": "either", "keeps_place": True, "prefix_cache": True, "streaming": True,
    "streams_within": 1, "stop_tokens": True, "gauges": True, "cancel": True, "kv_blocks": True, "duplicate_ids": "refused",
}
SHARE = 2  # the host holds so many times what the device holds


@dataclass(eq=False)
class Job:
    """A request."""

    name: str
    tokens: list
    prompt: int
    max_tokens: int
    stop: tuple
    rank: int
    done: int = 0
    pages: list = field(default_factory=list)


class Host:
    """A number of slots. The page that was used least recently gives way."""

    def __init__(self, slots):
        self.index, self.held, self.empty = OrderedDict(), [None] * slots, list(range(slots))

    def put(self, key, page):
        if key not in self.index:
            slot = self.empty.pop() if self.empty else self.index.popitem(last=False)[1]
            self.index[key], self.held[slot] = slot, page
        self.index.move_to_end(key)

    def chain(self, keys):
        """Return those of the first keys that are here."""
        found = []
        for key in keys:
            if key not in self.index:
                break
            found.append(key)
        return found

    def keep(self, keys):
        """Let these be the last to give way."""
        for key in reversed(keys):
            self.index.move_to_end(key)

    def get(self, key):
        return self.held[self.index[key]]


class Device:
    """Pages that requests refer to, pages that are only known, and free ones."""

    def __init__(self, cache, pages, size):
        self.cache, self.size, self.pages = cache, size, pages
        self.refs, self.free = [0] * pages, list(range(pages))
        self.known, self.key_of, self.idle = {}, {}, OrderedDict()
        self.host = Host(SHARE * pages)

    @property
    def spare(self):
        return len(self.free) + len(self.idle)

    def keys(self, tokens):
        return [tuple(tokens[:stop]) for stop in range(self.size, len(tokens) + 1, self.size)]

    def take(self):
        if self.free:
            page = self.free.pop()
        else:
            page, _ = self.idle.popitem(last=False)
            key = self.key_of.pop(page)
            del self.known[key]
            self.host.put(key, self.cache.read(page))
        self.refs[page] = 1
        return page

    def share(self, pages):
        for page in pages:
            self.idle.pop(page, None)
            self.refs[page] += 1

    def give(self, pages):
        for page in reversed(pages):  # the end of a prefix is forgotten first
            self.refs[page] -= 1
            if not self.refs[page]:
                if page in self.key_of:
                    self.idle[page] = None
                else:
                    self.free.append(page)

    def learn(self, job):
        for page, key in zip(job.pages, self.keys(job.tokens[: job.done]), strict=False):
            if key not in self.known and page not in self.key_of:
                self.known[key], self.key_of[page] = page, key


class Engine:
    """The engine, without the model."""

    def __init__(self, cache, config):
        if not config.chunked_prefill:
            raise Unsupported("prompts that are always computed in one iteration")
        self.cache, self.config, self.size = cache, config, config.block_size
        self.longest = min(config.max_model_len, config.num_blocks * config.block_size)
        self.device = Device(cache, config.num_blocks, config.block_size)
        self.waiting, self.coming, self.running = [], [], []
        self.arrivals = self.preempted = self.hits = 0

    @property
    def busy(self):
        return bool(self.waiting or self.coming or self.running)

    def knows(self, name):
        return any(job.name == name for job in self.waiting + self.coming + self.running)

    def add(self, request):
        self.arrivals += 1
        prompt = list(request.prompt)
        self.waiting.append(
            Job(request.name, prompt, len(prompt), request.max_tokens, tuple(request.stop), self.arrivals)
        )

    def gauges(self):
        spare = self.device.spare
        return {"running": len(self.coming) + len(self.running), "waiting": len(self.waiting), "free_blocks": spare,
                "used_blocks": self.device.pages - spare, "preempted": self.preempted, "cached_tokens": self.hits}

    def abort(self, name):
        for line in (self.waiting, self.coming, self.running):
            for job in line:
                if job.name == name:
                    line.remove(job)
                    self.device.give(job.pages)
                    return True
        return False

    def _need(self, tokens):
        return -(-tokens // self.size)

    def _admitted(self):
        """Let the first in, if there is room for all its tokens; return whether there was."""
        job, device = self.waiting[0], self.device
        keys = device.keys(job.tokens[:-1]) if self.config.prefix_cache else []
        here = []
        while len(here) < len(keys) and keys[len(here)] in device.known:
            here.append(device.known[keys[len(here)]])
        there = device.host.chain(keys[len(here):])
        owed = sum(self._need(len(one.tokens)) - len(one.pages) for one in self.coming + self.running)
        fresh = self._need(len(job.tokens)) - len(here)
        if fresh > device.spare - sum(page in device.idle for page in here) - owed:
            return False
        self.waiting.pop(0)
        device.share(here)
        device.host.keep(there)
        held = [device.host.get(key) for key in there]
        job.pages = here + [device.take() for _ in there]
        for page, content in zip(job.pages[len(here):], held, strict=True):
            self.cache.write(page, content)
        job.done = len(job.pages) * self.size
        device.learn(job)
        self.hits += 0 if len(job.tokens) > job.prompt else job.done
        (self.coming if there else self.running).append(job)
        return True

    def _grown(self, job, count, plan):
        """Get the pages for a job's next tokens, from those that came later; return whether it keeps its own."""
        while self._need(job.done + count) > len(job.pages):
            if self.device.spare:
                job.pages.append(self.device.take())
                continue
            last = max(self.running, key=lambda one: one.rank)
            self.running.remove(last)
            self.device.give(last.pages)
            last.pages, last.done = [], 0
            plan.pop(last, None)
            self.waiting.append(last)
            self.waiting.sort(key=lambda one: one.rank)
            self.preempted += 1
            if last is job:
                return False
        return True

    def _planned(self):
        plan, before = {}, self.preempted
        for text in (True, False):
            for job in list(self.running):
                left = self.config.max_num_batched_tokens - sum(plan.values())
                count = min(left, len(job.tokens) - job.done)
                is_text = len(job.tokens) > job.prompt and job.done == len(job.tokens) - 1
                if job in self.running and is_text == text and count and self._grown(job, count, plan):
                    plan[job] = count
        while self.waiting and self.preempted == before:
            left = self.config.max_num_batched_tokens - sum(plan.values())
            full = len(self.running) + len(self.coming) >= self.config.max_num_seqs
            if not left or full or not self._admitted():
                break
            job = self.running[-1] if self.running else None
            if job and job not in plan:
                count = min(left, len(job.tokens) - job.done)
                if self._grown(job, count, plan):
                    plan[job] = count
        return plan

    def step(self):
        self.running = sorted(self.running + self.coming, key=lambda one: one.rank)
        self.coming = []
        plan = self._planned()
        if not plan:
            return []
        rows = [(job.tokens[job.done : job.done + count], job.done, job.pages) for job, count in plan.items()]
        made = zip(plan.items(), self.cache.run(rows), strict=True)
        return [said for (job, count), token in made for said in self._made(job, count, token)]

    def _made(self, job, count, token):
        job.done += count
        if self.config.prefix_cache:
            self.device.learn(job)
        if job.done < len(job.tokens):
            return
        job.tokens.append(token)
        end = ended(job, token, self.longest)
        if end:
            self.running.remove(job)
            self.device.give(job.pages)
        yield job.name, (token,), end


Target = target("tiers", Engine, CLAIMS)
