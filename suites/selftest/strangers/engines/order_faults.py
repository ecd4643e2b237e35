"""Faults about who runs, how much of him, and who waits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType

from batchproof.suites.selftest.strangers.engines.designs import PromptsFirst, SkipAhead, SoonestDue
from batchproof.suites.selftest.strangers.engines.engine import Engine, Job


class LongOnesWait(SkipAhead):
    """Who does not fit is passed for ever."""

    claims = MappingProxyType({"admission": "arrival"})
    most = 1 << 30


class LongOnesStarve(SkipAhead):
    """The same, where no order of admission is claimed."""

    most = 1 << 30


class DueWraps(SoonestDue):
    """The number of the iteration at which a request is due has eight bits."""

    bits = 8


class PriorityIgnored(Engine):
    """Priorities decide only between the first two that wait."""

    def next(self) -> Job | None:
        line = sorted(self.waiting, key=lambda job: job.rank[1])
        job = min(line[:2], key=lambda one: one.rank)
        return job if self.fits(job) else None


class FirstPriorityLoses(Engine):
    """The one that comes first loses its pages, whatever its priority."""

    def victim(self, job: Job) -> Job:
        return min(self.running, key=lambda one: (one.rank[0], -one.rank[1]))


class DecodesNotCounted(Engine):
    """Next tokens do not count against the budget if there are fewer than three."""

    def spend(self, job: Job, size: int) -> None:
        if not job.decodes or len(self.running) > 2:
            super().spend(job, size)


class BudgetBackTwice(Engine):
    """A victim's tokens are given back to the budget although it had none in this iteration."""

    def evict(self, job: Job) -> None:
        super().evict(job)
        self.room += 1


class ResumedBesides(Engine):
    """Who was preempted needs no lane."""

    def admissions(self) -> None:
        while self.waiting and self.waiting[0].said and self.room and not self.lost and self.fits(self.waiting[0]):
            job = self.waiting[0]
            self.admit(job)
            self.advance(job)
        super().admissions()

    def lanes(self) -> int:
        return max(0, super().lanes())


class VictimStays(Engine):
    """A victim that was part of the iteration already is computed in it, in pages that are another's by now."""

    def step(self) -> None:
        self.stale: list[tuple[list[int], int, list[int]]] = []
        super().step()

    def evict(self, job: Job) -> None:
        if job in self.chunks:
            self.stale.append((list(job.pages), job.done, job.tokens[job.done : job.done + self.chunks[job]]))
        super().evict(job)

    def phases(self) -> Sequence[Callable[[], None]]:
        return (*super().phases(), self.late)

    def late(self) -> None:
        """Write for those who are gone."""
        for table, start, tokens in self.stale:
            self.memory.write(table, start, tokens)


class GhostsKeepLanes(Engine):
    """A request that is taken back while it waits keeps a lane, but for the last one."""

    ghosts = 0

    def abort_waiting(self, job: Job) -> None:
        self.ghosts = min(self.ghosts + 1, self.config.max_num_seqs - 1)

    def lanes(self) -> int:
        return super().lanes() - self.ghosts


class LaneLostAfterHundreds(Engine):
    """After every 200 requests there is a lane less."""

    served = 0

    def leave(self, job: Job) -> None:
        self.served += 1
        super().leave(job)

    def lanes(self) -> int:
        return super().lanes() - min(self.served // 200, self.config.max_num_seqs)


class NeighbourSkipped(Engine):
    """When somebody loses its pages, the one behind the one that asked is passed over for this iteration."""

    def decodes(self) -> None:
        jobs = [job for job in self.running if job.decodes]
        skip = False
        for job in jobs:
            if job in self.running and not skip:
                before = self.counted["preempted"]
                self.advance(job)
                skip = self.counted["preempted"] > before
            else:
                skip = False


class StopsAfterPreemption(Engine):
    """Somebody lost its pages: from then on only the first two get next tokens."""

    def decodes(self) -> None:
        for job in [job for job in self.running if job.decodes][: 2 if self.counted["preempted"] else None]:
            if job in self.running:
                self.advance(job)


class LongPromptStalls(Engine):
    """A prompt that has had eight chunks gets no more while others make text."""

    def prompts(self) -> None:
        if any(job.decodes for job in self.running):
            held = [job for job in self.running if not job.decodes and job.done >= 8 * self.pool.size and not job.said]
            self.running = [job for job in self.running if job not in held]
            super().prompts()
            self.running += held
        else:
            super().prompts()


class PromptsStarveText(PromptsFirst):
    """Prompts come first, and a prompt that is there is divided so that it never ends while others make text."""

    def share(self, done: int, left: int) -> int:
        size = super().share(done, left)
        text = any(job.decodes for job in self.running)
        return min(size, max(1, left // 2)) if text and left > 8 else size


class RunsOnlyWhenFull(Engine):
    """Who comes to an engine with work waits until as many wait as there are lanes free."""

    def next(self) -> Job | None:
        if self.running and len(self.waiting) < self.lanes():
            return None
        return super().next()


class OneStepAside(Engine):
    """Whoever was admitted is told to wait for one iteration in every 50."""

    number = 0

    def phases(self) -> Sequence[Callable[[], None]]:
        self.number += 1
        return super().phases() if self.number % 50 else (self.admissions,)
