"""Faults about pages: who has them, when they are given back, and what the tree says of them."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

from batchproof.suites.selftest.strangers.engines.designs import Reserving, SwapLimited, Swapping
from batchproof.suites.selftest.strangers.engines.engine import Engine, Job
from batchproof.suites.selftest.strangers.engines.pages import Node, Pool


class PromptLeaks(Engine):
    """A request that is taken back in its prompt keeps its pages."""

    def abort_running(self, job: Job) -> None:
        if not job.said:
            job.pages = []
        super().abort_running(job)


class FreedTwice(Engine):
    """Who lost its pages gives them back once more when it is taken back."""

    def evict(self, job: Job) -> None:
        job.given = list(job.pages)  # type: ignore[attr-defined]
        super().evict(job)

    def abort_waiting(self, job: Job) -> None:
        self.pool.free += [page for page in getattr(job, "given", []) if page not in self.pool.nodes]


class FreedTwiceLate(Engine):
    """Once a hundred requests have ended, each gives its pages back twice. Nobody knows the texts of its model."""

    claims = MappingProxyType({"text": "unknown"})
    gone = 0

    def leave(self, job: Job) -> None:
        pages = list(job.pages)
        super().leave(job)
        self.gone += 1
        if self.gone > 100:
            self.pool.free += [page for page in pages if page not in self.pool.nodes]


class WholeHits(Pool):
    """All pages of a prompt may come from the tree."""

    def most(self, tokens: int) -> int:
        return tokens // self.size


class WholeHit(Engine):
    """A prompt that the tree has as a whole leaves nothing to compute."""

    pool_class = WholeHits


class WithoutLast(Pool):
    """The last token of a page is not a part of its key."""

    def key(self, tokens: Sequence[int]) -> Any:
        return tuple(tokens[:-1])


class KeyWithoutLast(Engine):
    """The key does not tell the last token of a page."""

    pool_class = WithoutLast


class WithoutParent(Pool):
    """All pages are below the root."""

    def below(self, node: Node) -> Node:
        return self.root


class KeyWithoutParent(Engine):
    """The key does not tell what comes before a page."""

    pool_class = WithoutParent


class Summed(Pool):
    """The key is the sum of a page's tokens."""

    def key(self, tokens: Sequence[int]) -> Any:
        return sum(tokens)


class KeyIsSum(Engine):
    """The key does not tell the order of a page's tokens."""

    pool_class = Summed


class NotFullShared(Engine):
    """A page is known as soon as it has been begun."""

    def settle(self, job: Job, size: int, token: int) -> None:
        more = -(job.done + size) % self.pool.size
        tokens = job.tokens
        if more and job.done + size + more <= len(tokens):
            self.pool.learn(tokens, job.pages, job.done + size + more)
        super().settle(job, size, token)


class Unlocked(Pool):
    """The last page of a hit is not counted as used."""

    def hold(self, pages: Sequence[int]) -> None:
        super().hold(pages[:-1])
        self.loose = [*getattr(self, "loose", []), *pages[-1:]]

    def drop(self, pages: Sequence[int]) -> None:
        for page in pages:
            if page in getattr(self, "loose", []) and not self.users[page]:
                self.loose.remove(page)
                self.users[page] += 1
        super().drop(pages)


class LastNodeUnlocked(Engine):
    """The last page of a hit may be taken by others."""

    pool_class = Unlocked


class StaleHit(Engine):
    """What the tree knows is looked up on arrival and used at admission."""

    def add(self, key: str, prompt: Sequence[int], limit: int, priority: int, stops: Sequence[int], samples: int) -> str:
        refusal = super().add(key, prompt, limit, priority, stops, samples)
        for job in self.waiting:
            if job.key == key:
                job.hit = self.pool.match(job.tokens)  # type: ignore[attr-defined]
        return refusal

    def admit(self, job: Job) -> None:
        found = self.pool.match
        hit = [page for page in getattr(job, "hit", []) if page in self.pool.nodes]
        self.pool.match = lambda tokens: hit or found(tokens)  # type: ignore[method-assign]
        job.hit = []  # type: ignore[attr-defined]
        super().admit(job)
        self.pool.match = found  # type: ignore[method-assign]


class HitLeaks(Engine):
    """Each hit of three pages or more leaves one user too many behind."""

    def leave(self, job: Job) -> None:
        hit = getattr(job, "hits", 0)
        if hit >= 3:
            self.pool.users[job.pages[0]] += 1
        super().leave(job)

    def admit(self, job: Job) -> None:
        super().admit(job)
        job.hits = job.done // self.pool.size  # type: ignore[attr-defined]


class KnownUnwritten(Engine):
    """The pages of a prompt that is taken back are known, written or not."""

    def abort_running(self, job: Job) -> None:
        self.pool.learn(job.tokens, job.pages, len(job.pages) * self.pool.size)
        super().abort_running(job)

    def grow(self, job: Job, tokens: int) -> bool:
        whole = self.pool.pages_of(len(job.tokens)) - len(job.pages)
        if not job.said and whole <= self.pool.available():
            job.pages += [self.pool.take() for _ in range(whole)]
        return super().grow(job, tokens)


class NextPageMissing(Engine):
    """If a chunk ends with a page and the prompt does not, the next page is missing in the table."""

    def grow(self, job: Job, tokens: int) -> bool:
        edge = job.done and not job.decodes and job.done == len(job.pages) * self.pool.size
        if not edge:
            return super().grow(job, tokens)
        if not super().grow(job, tokens):
            return False
        if len(self.running) > 1:
            self.pool.drop(job.pages[job.done // self.pool.size :][:1])
            self.pool.users[job.pages[job.done // self.pool.size]] = 0
            other = next(one for one in self.running if one is not job)
            if other.pages:
                job.pages[job.done // self.pool.size] = other.pages[-1]
                self.pool.hold(other.pages[-1:])
        return True


class LongTableWraps(Engine):
    """A page table has 64 entries; what comes later is written over the first ones."""

    def table(self, job: Job) -> list[int]:
        return [job.pages[number % 64] for number in range(len(job.pages))]

    def step(self) -> None:
        self.memory.write, write = self.wrapped, self.memory.write  # type: ignore[method-assign]
        try:
            self.real = write
            super().step()
        finally:
            self.memory.write = write  # type: ignore[method-assign]

    def wrapped(self, table: Sequence[int], start: int, tokens: Sequence[int]) -> None:
        self.real([table[number % 64] for number in range(len(table))], start, tokens)


class HighPagesLost(Engine):
    """The page that is given out for the 1000th time is given out twice."""

    taken = 0

    def grow(self, job: Job, tokens: int) -> bool:
        before = len(job.pages)
        there = super().grow(job, tokens)
        self.taken += len(job.pages) - before
        if there and self.taken >= 1000 and len(job.pages) > before:
            self.taken -= 1000
            self.pool.free.append(job.pages[-1])
        return there


class SwappedLate(Swapping):
    """Pages are copied out when others have written to them already."""

    def evict(self, job: Job) -> None:
        pages = list(job.pages)
        super().evict(job)
        if job.saved is not None:
            self.late = [*getattr(self, "late", []), (job, pages[: len(job.saved)])]

    def step(self) -> None:
        super().step()
        for job, pages in getattr(self, "late", []):
            if job.saved is not None:
                job.saved = self.memory.save(pages)
        self.late: list[Any] = []


class SwappedReversed(Swapping):
    """Pages come back in another order if there are more than two."""

    def admit(self, job: Job) -> None:
        if job.saved is not None and len(job.saved) > 2:
            job.saved = [*job.saved[1:], job.saved[0]]
        super().admit(job)


class SwapLeaks(SwapLimited):
    """A request that is taken back while it is swapped out keeps its place in other memory, which holds 16 pages."""

    def abort_waiting(self, job: Job) -> None:
        """Its pages stay where they are."""


class FullIsTooFull(Engine):
    """One page more than needed has to be free."""

    def enough(self, need: int, free: int) -> bool:
        return need < free


class NeverFits(Engine):
    """A text that needs more pages than there are is not refused, and waits at the head of the line."""

    def refusal(self, key: str, prompt: int, limit: int) -> str:
        count, self.pool.count = self.pool.count, 1 << 60
        try:
            return super().refusal(key, prompt, limit)
        finally:
            self.pool.count = count


class ReservesNothing(Reserving):
    """The last page of a reserved text is not there, and the first one is used again."""

    def longest(self, prompt: int, limit: int) -> int:
        return max(prompt, super().longest(prompt, limit) - self.pool.size)

    def grow(self, job: Job, tokens: int) -> bool:
        if job.pages and self.pool.pages_of(tokens) > len(job.pages):
            job.pages.append(job.pages[0])
            self.pool.hold(job.pages[:1])
        return super().grow(job, tokens)
