"""Right engines of other designs: each is allowed by what it claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any

from batchproof.suites.selftest.strangers.engines.engine import Engine, Job, Model, Told
from batchproof.suites.selftest.strangers.engines.pages import Pool


class PromptsFirst(Engine):
    """As vLLM's first engine: an iteration computes prompts, and next tokens only if there is no prompt."""

    claims = MappingProxyType({"mixed_iterations": False})

    def phases(self) -> Sequence[Callable[[], None]]:
        return (self.prompts, self.admissions, lambda: None if self.chunks else self.decodes())


class PromptsBefore(Engine):
    """Prompts get the budget before next tokens do, in the same iteration."""

    claims = MappingProxyType({"stall_free": False})

    def phases(self) -> Sequence[Callable[[], None]]:
        return (self.prompts, self.admissions, self.decodes)


class Alternating(Engine):
    """Prompts and next tokens take turns."""

    claims = MappingProxyType({"mixed_iterations": False, "joins_within": 2})
    turn = 0

    def phases(self) -> Sequence[Callable[[], None]]:
        self.turn += 1
        phases = [(self.prompts, self.admissions), (self.decodes,)]
        first, second = phases if self.turn % 2 else phases[::-1]
        return (*first, lambda: None if self.chunks else [phase() for phase in second])


class OldestLoses(Engine):
    """The oldest of the others loses its pages."""

    claims = MappingProxyType({"request_priorities": False})

    def victim(self, job: Job) -> Job:
        return min((one for one in self.running if one is not job), key=lambda one: one.rank, default=job)


class LargestLoses(Engine):
    """Whoever has the most pages loses them."""

    claims = MappingProxyType({"request_priorities": False})

    def victim(self, job: Job) -> Job:
        others = [one for one in self.running if one is not job and one.pages]
        return max(others, key=lambda one: (len(one.pages), one.rank), default=job)


class Swapping(Engine):
    """A victim's pages go to other memory, and come back as they were."""

    claims = MappingProxyType({"preemption": "swap"})
    swaps = True


class SwappingTexts(Swapping):
    """A victim with a text is swapped, and one in its prompt is computed again."""

    claims = MappingProxyType({"preemption": "either"})

    def evict(self, job: Job) -> None:
        self.swaps = bool(job.said)
        super().evict(job)


class SwapLimited(Swapping):
    """Other memory holds 16 pages. A victim for which it has no room is computed again."""

    claims = MappingProxyType({"preemption": "either"})
    place = 16

    def evict(self, job: Job) -> None:
        super().evict(job)
        if job.saved is not None and len(job.saved) > self.place:
            job.saved, job.done = None, 0
        self.place -= len(job.saved or ())

    def admit(self, job: Job) -> None:
        self.place += len(job.saved or ())
        super().admit(job)

    def abort_waiting(self, job: Job) -> None:
        self.place += len(job.saved or ())
        super().abort_waiting(job)


class SkipAhead(Engine):
    """Who does not fit is passed by those behind, four times at most."""

    claims = MappingProxyType({"admission": False})
    most = 4

    def next(self) -> Job | None:
        for job in self.waiting:
            if self.fits(job):
                for passed in self.waiting[: self.waiting.index(job)]:
                    passed.passed += 1
                return job
            if job.passed >= self.most:
                return None
        return None


class Watermark(Engine):
    """Two pages stay free when somebody is admitted alongside others."""

    claims = MappingProxyType({"joins_within": False})
    watermark = 2


class Aligned(Engine):
    """A chunk of a prompt ends with a page, or with the prompt."""

    aligned = True

    @staticmethod
    def lacks(config: Any) -> str:
        return "max_num_batched_tokens" if config.max_num_batched_tokens < config.max_num_seqs + config.block_size else ""

    claims = MappingProxyType({"joins_within": False})


class Reserving(Engine):
    """A job gets the pages of its whole text at once, so nobody ever loses any."""

    claims = MappingProxyType({"preemption": False})
    reserves = True


class Fixed(Engine):
    """As llama.cpp: every lane has cells for the longest text, and there is no paging."""

    claims = MappingProxyType({"preemption": False, "prefix_cache": False, "kv_blocks": False})

    @staticmethod
    def lacks(config: Any) -> str:
        if config.prefix_cache:
            return "prefix_cache"
        return "kv_blocks" if config.num_blocks < config.max_num_seqs * -(-config.max_model_len // config.block_size) else ""

    def longest(self, prompt: int, limit: int) -> int:
        return int(self.config.max_model_len)

    reserves = True


class Threes(Engine):
    """A stream's chunk has three tokens, but for the last one."""

    claims = MappingProxyType({"streams_within": False})

    def tell(self, job: Job, tokens: tuple[int, ...], end: str = "") -> None:
        self.held = getattr(self, "held", {})
        held = self.held.pop(job, ()) + tokens
        if end == "abort":
            super().tell(job, (), end)
        elif end or len(held) >= 3:
            super().tell(job, held, end)
        else:
            self.held[job] = held


class Late(Engine):
    """As with asynchronous scheduling: what an iteration makes is told one step later."""

    claims = MappingProxyType({"streams_within": 2})

    def take_told(self) -> list[Told]:
        now, self.later = getattr(self, "later", []), super().take_told()
        return now

    def abort(self, key: str) -> None:
        super().abort(key)
        ended = {one.key for one in self.told if one.end == "abort"}
        self.later = [one for one in getattr(self, "later", []) if one.key not in ended]

    @property
    def busy(self) -> bool:
        return bool(super().busy or getattr(self, "later", []))


class Ahead(Engine):
    """As with asynchronous scheduling: a text that has ended is computed once more, before its end is known."""

    claims = MappingProxyType({"looks_ahead": 1})
    ghosts: tuple[Job, ...] = ()

    def phases(self) -> Sequence[Callable[[], None]]:
        return (self.haunt, *super().phases())

    def haunt(self) -> None:
        for job in self.ghosts:
            if self.room and self.pool.pages_of(job.done + 1) <= len(job.pages):
                self.chunks[job] = 1
                self.spend(job, 1)

    def lanes(self) -> int:
        return super().lanes() - len(self.ghosts)

    def leave(self, job: Job) -> None:
        if job.said and self.end(job, job.said[-1]):
            self.running.remove(job)
            self.fresh.append(job)
        else:
            super().leave(job)

    def settle(self, job: Job, size: int, token: int) -> None:
        if job not in self.ghosts:
            super().settle(job, size, token)

    def step(self) -> None:
        self.fresh: list[Job] = []
        super().step()
        for job in self.ghosts:
            self.pool.drop(job.pages)
        self.ghosts = tuple(self.fresh)

    @property
    def busy(self) -> bool:
        return bool(super().busy or self.ghosts)


class Numbered(Engine):
    """It makes IDs of its own, so two requests of one name are served apart."""

    claims = MappingProxyType({"duplicate_ids": "apart"})

    def refusal(self, key: str, prompt: int, limit: int) -> str:
        return super().refusal("", prompt, limit)


class Displacing(Engine):
    """Who waits and comes before one that runs takes its place."""

    claims = MappingProxyType({"request_priorities": "preempting"})

    def next(self) -> Job | None:
        first = self.waiting[0]
        while not (super().lanes() > 0 and self.fits(first)):
            last = max(self.running, key=lambda job: job.rank, default=None)
            if last is None or last.rank[0] <= first.rank[0]:
                return None
            self.evict(last)
            self.lost = False
        return first

    def lanes(self) -> int:
        return super().lanes() or int(any(job.rank[0] > self.waiting[0].rank[0] for job in self.running))


class OneAtATime(Engine):
    """Only one prompt is computed at a time."""

    claims = MappingProxyType({"joins_within": False})

    def next(self) -> Job | None:
        return None if any(not job.decodes for job in self.running) else super().next()


class ToTheTail(Engine):
    """A victim waits behind everybody else."""

    claims = MappingProxyType({"admission": False, "request_priorities": False})

    def requeue(self, job: Job) -> None:
        job.rank = (0, next(self.arrivals))
        super().requeue(job)


class WholePool(Pool):
    """If the tree knows a whole prompt, its last page is computed again, and one more."""

    def most(self, tokens: int) -> int:
        return max(0, (tokens - 1) // self.size - 1)


class PageAgain(Engine):
    """The tree gives one page less than it could."""

    pool_class = WholePool


class LastApart(Engine):
    """The last token of a prompt has an iteration of its own."""

    claims = MappingProxyType({"joins_within": 1})

    def share(self, done: int, left: int) -> int:
        size = super().share(done, left)
        return size - 1 if size == left > 1 and self.config.chunked_prefill else size


class ShortestFirst(Engine):
    """The shortest prompt is admitted first, but whoever was passed eight times goes before all."""

    claims = MappingProxyType({"admission": False, "request_priorities": False})

    def next(self) -> Job | None:
        old = [job for job in self.waiting if job.passed >= 8]
        job = min(old or self.waiting, key=lambda one: (len(one.prompt), one.rank) if not old else one.rank)
        if not self.fits(job):
            return None
        for one in self.waiting:
            one.passed += one.rank < job.rank
        return job


class Posted(Engine):
    """What is sent is taken in when the next iteration begins: a refusal comes out there, and a request waits until then."""

    def __init__(self, config: Any, model: Model) -> None:
        super().__init__(config, model)
        self.post: list[tuple[Any, ...]] = []

    def add(
        self, key: str, prompt: Sequence[int], limit: int, priority: int, stops: Sequence[int], samples: int
    ) -> str:
        self.post.append((key, prompt, limit, priority, stops, samples))
        return ""

    def abort(self, key: str) -> None:
        self.take_in()
        super().abort(key)

    def step(self) -> None:
        self.take_in()
        super().step()

    def take_in(self) -> None:
        """Take in what was sent."""
        post, self.post = self.post, []
        for one in post:
            if refusal := super().add(*one):
                self.told.append(Told(one[0], 0, (), "refused", refusal))

    @property
    def busy(self) -> bool:
        return bool(self.post) or super().busy

    def gauges(self) -> dict[str, int]:
        found = dict(super().gauges())
        return {**found, "waiting": found["waiting"] + len(self.post)}


class SoonestDue(Engine):
    """Who is due soonest is admitted first: so many iterations after its arrival as its prompt has eighths."""

    claims = MappingProxyType({"admission": False, "request_priorities": False})
    bits = 64

    def __init__(self, config: Any, model: Model) -> None:
        super().__init__(config, model)
        self.now, self.due = 0, dict[Job, int]()

    def step(self) -> None:
        self.now += 1
        super().step()

    def next(self) -> Job | None:
        for job in self.waiting:
            self.due.setdefault(job, (self.now + len(job.prompt) // 8) % (1 << self.bits))
        job = min(self.waiting, key=lambda one: (self.due[one], one.rank))
        return job if self.fits(job) else None
