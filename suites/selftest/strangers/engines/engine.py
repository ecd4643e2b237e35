"""A right engine with continuous batching, in one piece: jobs wait in a line, sit on lanes, and share a budget of tokens.

Its designs and its faults are subclasses. What differs between designs is a class attribute or a small method.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from types import MappingProxyType
from typing import Any

from batchproof.suites.selftest.strangers.engines.pages import Memory, Pool


@dataclass(frozen=True)
class Told:
    """What a client is told: new tokens, and how the text ended."""

    key: str
    sample: int
    tokens: tuple[int, ...] = ()
    end: str = ""
    words: str = ""


@dataclass(eq=False)
class Job:
    """One text that is being made. done: tokens that are in the cache. saved: its pages, while they are in other memory."""

    key: str
    sample: int
    prompt: tuple[int, ...]
    limit: int
    stops: frozenset[int]
    rank: tuple[int, int]
    said: list[int] = field(default_factory=list)
    pages: list[int] = field(default_factory=list)
    done: int = 0
    saved: list[Any] | None = None
    passed: int = 0
    lane: int = -1

    @property
    def tokens(self) -> list[int]:
        return [*self.prompt, *self.said]

    @property
    def left(self) -> int:
        """Tokens that have to be computed before the next one can be said."""
        return len(self.prompt) + len(self.said) - self.done

    @property
    def decodes(self) -> bool:
        return bool(self.said) and self.left == 1


Model = Callable[[Sequence[tuple[Sequence[int], int, Sequence[int]]], Memory], list[int]]


class Engine:
    """Decodes come first, then prompts in chunks, then newcomers; the youngest loses its pages and computes again."""

    swaps = False  # a victim's pages are kept in other memory
    aligned = False  # a chunk of a prompt ends with a page
    reserves = False  # a job gets the pages of its whole text when it is admitted
    watermark = 0  # pages that stay free when somebody is admitted alongside others

    pool_class = Pool
    claims: Mapping[str, Any] = MappingProxyType({})  # what it claims otherwise than the plain one

    @staticmethod
    def lacks(config: Any) -> str:
        """Return what it cannot be configured to, or nothing."""
        return ""

    def __init__(self, config: Any, model: Model) -> None:
        self.config, self.model = config, model
        self.pool = self.pool_class(config.num_blocks, config.block_size, config.prefix_cache)
        self.memory = Memory(config.num_blocks, config.block_size)
        self.waiting: list[Job] = []
        self.running: list[Job] = []
        self.arrivals = count()
        self.counted: Counter[str] = Counter(preempted=0, prompt_tokens=0, output_tokens=0, cached_tokens=0)
        self.chunks: dict[Job, int] = {}
        self.room = 0
        self.lost = False
        self.told: list[Told] = []

    # ------------------------------------------------------------------------------------------------ who comes and goes
    def add(self, key: str, prompt: Sequence[int], limit: int, priority: int, stops: Sequence[int], samples: int) -> str:
        """Take a request, or return why not."""
        if refusal := self.refusal(key, len(prompt), limit):
            return refusal
        for sample in range(samples):
            rank = (priority if self.config.policy == "priority" else 0, next(self.arrivals))
            self.waiting.append(Job(key, sample, tuple(prompt), limit, frozenset(stops), rank))
        self.waiting.sort(key=lambda job: job.rank)
        return ""

    def refusal(self, key: str, prompt: int, limit: int) -> str:
        """Return why a request cannot be served."""
        if any(job.key == key for job in (*self.waiting, *self.running)):
            return f"the ID {key} is in use"
        if not prompt or limit < 1:
            return "there is nothing to do"
        if prompt >= self.config.max_model_len:
            return f"a prompt of {prompt} tokens leaves no room in a context of {self.config.max_model_len}"
        if self.pool.pages_of(self.longest(prompt, limit)) > self.pool.count:
            return "the KV cache is too small for this text"
        return ""

    def longest(self, prompt: int, limit: int) -> int:
        """Return how many tokens of a text can be in the cache: its last one never is."""
        return min(prompt + limit, self.config.max_model_len) - 1

    def abort(self, key: str) -> None:
        """Take a request back."""
        for job in [job for job in self.waiting if self.meant(job, key)]:
            self.waiting.remove(job)
            self.abort_waiting(job)
            self.tell(job, (), "abort")
        for job in [job for job in self.running if self.meant(job, key)]:
            self.abort_running(job)
            self.tell(job, (), "abort")

    def meant(self, job: Job, key: str) -> bool:
        """Return whether an abort of this key means this job."""
        return job.key == key

    def abort_waiting(self, job: Job) -> None:
        """Clear up after one that was waiting."""

    def abort_running(self, job: Job) -> None:
        """Clear up after one that was running."""
        self.leave(job)

    def leave(self, job: Job) -> None:
        """Let a job go from its lane."""
        self.running.remove(job)
        self.pool.drop(job.pages)
        job.pages = []

    def tell(self, job: Job, tokens: tuple[int, ...], end: str = "") -> None:
        """Put something into a client's stream."""
        self.told.append(Told(job.key, job.sample, tokens, end))

    # ------------------------------------------------------------------------------------------------------ an iteration
    def step(self) -> None:
        """Run one iteration."""
        self.room, self.chunks, self.lost = self.config.max_num_batched_tokens, {}, False
        for phase in self.phases():
            phase()
        planned = list(self.chunks.items())
        rows = []
        for job, size in planned:
            new = job.tokens[job.done : job.done + size]
            self.memory.write(job.pages, job.done, new)
            rows.append((self.table(job), job.done, new))
        if not rows:
            return
        for (job, size), token in zip(planned, self.results(self.model(rows, self.memory)), strict=True):
            self.settle(job, size, token)

    def phases(self) -> Sequence[Callable[[], None]]:
        """Return who gets tokens, in order."""
        return (self.decodes, self.prompts, self.admissions)

    def table(self, job: Job) -> list[int]:
        """Return a row's page table."""
        return list(job.pages)

    def results(self, tokens: list[int]) -> list[int]:
        """Return the model's tokens, one a row."""
        return tokens

    def decodes(self) -> None:
        """Give a token to each that makes text."""
        for job in [job for job in self.running if job.decodes]:
            if job in self.running:
                self.advance(job)

    def prompts(self) -> None:
        """Go on with prompts that are computed in part."""
        for job in [job for job in self.running if not job.decodes and job not in self.chunks]:
            if job in self.running:
                self.advance(job)

    def admissions(self) -> None:
        """Admit who waits, unless somebody has just lost his pages."""
        while self.waiting and self.lanes() and self.room and not self.lost:
            job = self.next()
            if job is None:
                return
            self.admit(job)
            self.advance(job)

    def lanes(self) -> int:
        """Return how many lanes are free."""
        return int(self.config.max_num_seqs) - len(self.running)

    def next(self) -> Job | None:
        """Return who is admitted next."""
        return self.waiting[0] if self.fits(self.waiting[0]) else None

    def fits(self, job: Job) -> bool:
        """Return whether there is room for a job: pages for all of its tokens, and budget for a first chunk."""
        found = [] if job.saved else self.pool.match(job.tokens)
        total = self.longest(len(job.prompt), job.limit) if self.reserves else len(job.tokens)
        need = self.pool.pages_of(total) - len(found)
        spare = self.watermark if self.running else 0
        idle = sum(not self.pool.users[page] for page in found)
        done = job.done if job.saved else len(found) * self.pool.size
        return self.enough(need + spare, self.pool.available() - idle) and self.share(done, len(job.tokens) - done) > 0

    def enough(self, need: int, free: int) -> bool:
        """Return whether so many free pages are enough."""
        return need <= free

    def admit(self, job: Job) -> None:
        """Give a job a lane, and what the tree or other memory has of it."""
        self.waiting.remove(job)
        self.running.append(job)
        if job.saved is not None:
            job.pages = [self.pool.take() for _ in job.saved]
            self.memory.load(job.pages, job.saved)
            job.saved = None
        else:
            job.pages = self.pool.match(job.tokens)
            self.pool.hold(job.pages)
            job.done = len(job.pages) * self.pool.size
            self.counted["cached_tokens"] += job.done
        if self.reserves:
            self.grow(job, self.longest(len(job.prompt), job.limit))

    def share(self, done: int, left: int) -> int:
        """Return how many tokens somebody gets in this iteration."""
        size = min(left, self.room)
        if size < left:
            if not self.config.chunked_prefill:
                return 0
            if self.aligned:
                size = (done + size) // self.pool.size * self.pool.size - done
        return max(size, 0)

    def advance(self, job: Job) -> None:
        """Plan tokens of a job, if there is room and it gets its pages."""
        size = self.share(job.done, job.left)
        if size and self.grow(job, job.done + size):
            self.chunks[job] = size
            self.spend(job, size)

    def spend(self, job: Job, size: int) -> None:
        """Take tokens from the budget."""
        self.room -= size

    def grow(self, job: Job, tokens: int) -> bool:
        """Get the pages for so many tokens, if need be from others. Return whether the job is still there."""
        need = self.pool.pages_of(tokens) - len(job.pages)
        while need > self.pool.available():
            victim = self.victim(job)
            self.evict(victim)
            if victim is job:
                return False
        job.pages += [self.pool.take() for _ in range(need)]
        return True

    def victim(self, job: Job) -> Job:
        """Return who loses its pages."""
        return max(self.running, key=lambda one: one.rank)

    def evict(self, job: Job) -> None:
        """Take a job's pages away, and let it wait again."""
        self.room += self.chunks.pop(job, 0)
        self.running.remove(job)
        if self.swaps and job.done:
            job.saved = self.memory.save(job.pages[: self.pool.pages_of(job.done)])
        else:
            job.done = 0
        self.pool.drop(job.pages)
        job.pages = []
        self.requeue(job)
        self.counted["preempted"] += 1
        self.lost = True

    def requeue(self, job: Job) -> None:
        """Put a victim into its place in the line."""
        self.waiting.append(job)
        self.waiting.sort(key=lambda one: one.rank)

    def settle(self, job: Job, size: int, token: int) -> None:
        """Take in what an iteration made of a job."""
        job.done += size
        self.pool.learn(job.tokens, job.pages, job.done)
        if not job.left:
            if not job.said:
                self.counted["prompt_tokens"] += len(job.prompt)
            self.say(job, token)

    def say(self, job: Job, token: int) -> None:
        """Add a token to a text."""
        job.said.append(token)
        self.counted["output_tokens"] += 1
        end = self.end(job, token)
        if end:
            self.leave(job)
        self.tell(job, (token,), end)

    def end(self, job: Job, token: int) -> str:
        """Return how the text ends with this token, or nothing."""
        if token in job.stops:
            return "stop"
        full = len(job.prompt) + len(job.said) >= self.config.max_model_len
        return "length" if full or len(job.said) >= job.limit else ""

    # ------------------------------------------------------------------------------------------------------ what is known
    def take_told(self) -> list[Told]:
        """Return what the clients are told now."""
        told, self.told = self.told, []
        return told

    @property
    def busy(self) -> bool:
        return bool(self.waiting or self.running or self.told)

    def gauges(self) -> dict[str, int]:
        """Return what the engine says of itself."""
        free = self.pool.available()
        used = {"used_blocks": self.pool.count - free, "free_blocks": free}
        return {"running": len(self.running), "waiting": len(self.waiting), **used, **self.counted}
