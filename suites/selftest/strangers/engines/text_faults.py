"""Faults about what a client gets: tokens, ends, streams, gauges."""

from __future__ import annotations

from collections.abc import Sequence

from batchproof.suites.selftest.strangers.engines.designs import Late, Threes
from batchproof.suites.selftest.strangers.engines.engine import Engine, Job, Told


class TokenTwice(Engine):
    """After a preemption the last token is told again."""

    def admit(self, job: Job) -> None:
        super().admit(job)
        if job.said:
            self.tell(job, (job.said[-1],))


class TokenLost(Engine):
    """The first token after a preemption is not told."""

    def evict(self, job: Job) -> None:
        super().evict(job)
        job.mute = bool(job.said)  # type: ignore[attr-defined]

    def tell(self, job: Job, tokens: tuple[int, ...], end: str = "") -> None:
        if getattr(job, "mute", False) and tokens and not end:
            job.mute = False  # type: ignore[attr-defined]
            return
        super().tell(job, tokens, end)


class BeginsAnew(Engine):
    """What was said before a preemption is forgotten, and said again."""

    def evict(self, job: Job) -> None:
        super().evict(job)
        job.said = []


class EdgeEarly(Engine):
    """A text ends one token before the edge of the context."""

    def end(self, job: Job, token: int) -> str:
        full = len(job.prompt) + len(job.said) >= self.config.max_model_len - 1
        return super().end(job, token) or ("length" if full else "")


class StopInPrompt(Engine):
    """A stop token in the prompt ends the text with its first token."""

    def end(self, job: Job, token: int) -> str:
        return super().end(job, token) or ("stop" if job.stops & set(job.prompt[-8:]) else "")


class StickyStop(Engine):
    """The stop tokens of a lane's last request are also those of its next one."""

    def admit(self, job: Job) -> None:
        taken = {one.lane for one in self.running}
        job.lane = min(set(range(self.config.max_num_seqs)) - taken)
        self.kept = getattr(self, "kept", {})
        super().admit(job)

    def end(self, job: Job, token: int) -> str:
        ended = super().end(job, token)
        if not ended and token in self.kept.get(job.lane, ()):
            ended = "stop"
        if ended:
            self.kept[job.lane] = job.stops
        return ended


class AlwaysStop(Engine):
    """Whoever names stop tokens ends with `stop`, also at its limit."""

    def end(self, job: Job, token: int) -> str:
        ended = super().end(job, token)
        return "stop" if ended and job.stops else ended


class LengthWins(Engine):
    """A stop token that is also the last one that is allowed ends with `length`."""

    def end(self, job: Job, token: int) -> str:
        return "length" if len(job.said) >= job.limit else super().end(job, token)


class StopAtFirstIgnored(Engine):
    """A stop token that is the first of the text does not end it."""

    def end(self, job: Job, token: int) -> str:
        stops, job.stops = job.stops, frozenset() if len(job.said) == 1 else job.stops
        ended = super().end(job, token)
        job.stops = stops
        return ended


class StopMutedAfterPreemption(Engine):
    """Who was preempted is not stopped by its stop tokens any more."""

    def evict(self, job: Job) -> None:
        super().evict(job)
        job.stops = frozenset()


class LimitAnew(Engine):
    """The limit is counted anew after a preemption."""

    def evict(self, job: Job) -> None:
        super().evict(job)
        job.limit += len(job.said)


class LastTwice(Engine):
    """The last chunk of a stream comes twice if the text has more than one token."""

    def tell(self, job: Job, tokens: tuple[int, ...], end: str = "") -> None:
        if end == "length" and len(job.said) > 1:
            super().tell(job, tokens)
        super().tell(job, tokens, end)


class TurnedChunk(Threes):
    """The last chunk of a stream has its tokens the wrong way round if there are two."""

    def tell(self, job: Job, tokens: tuple[int, ...], end: str = "") -> None:
        before = len(self.told)
        super().tell(job, tokens, end)
        self.told[before:] = [
            Told(one.key, one.sample, one.tokens[::-1] if len(one.tokens) == 2 else one.tokens, one.end)
            for one in self.told[before:]
        ]


class PenultimateLost(Threes):
    """What is held back when a stop token comes is lost."""

    def tell(self, job: Job, tokens: tuple[int, ...], end: str = "") -> None:
        if end == "stop":
            getattr(self, "held", {}).pop(job, ())
        super().tell(job, tokens, end)


class FirstEndsAll(Engine):
    """When the first of several continuations has ended, the others are told nothing more."""

    def tell(self, job: Job, tokens: tuple[int, ...], end: str = "") -> None:
        self.over = getattr(self, "over", set())
        if job.sample and (job.key, 0) in self.over and not end:
            return
        if not job.sample and end:
            self.over.add((job.key, 0))
        super().tell(job, tokens, end)


class SamplesSwapped(Engine):
    """The second and the third continuation change their numbers after a preemption."""

    def evict(self, job: Job) -> None:
        super().evict(job)
        job.sample = {1: 2, 2: 1}.get(job.sample, job.sample)


class AbortByPrefix(Engine):
    """An abort means every request whose ID begins like this."""

    def meant(self, job: Job, key: str) -> bool:
        return job.key.startswith(key)


class AbortEndsNamesake(Engine):
    """An abort of a request that has ended ends the next one of its name."""

    gone: frozenset[str] = frozenset()

    def abort(self, key: str) -> None:
        if not any(job.key == key for job in (*self.waiting, *self.running)):
            self.gone |= {key}
        super().abort(key)

    def step(self) -> None:
        for key in [job.key for job in self.waiting if job.key in self.gone]:
            self.gone -= {key}
            super().abort(key)
        super().step()


class QueuedRunsOn(Engine):
    """A request that is taken back while it waits is computed all the same, and nobody is told."""

    def abort(self, key: str) -> None:
        zombies = [job for job in self.waiting if job.key == key]
        super().abort(key)
        for job in zombies:
            job.zombie = True  # type: ignore[attr-defined]
            self.waiting.append(job)
        self.waiting.sort(key=lambda job: job.rank)

    def tell(self, job: Job, tokens: tuple[int, ...], end: str = "") -> None:
        if not getattr(job, "zombie", False):
            super().tell(job, tokens, end)


class ToldAfterAbort(Late):
    """What was made before an abort is told after it."""

    def abort(self, key: str) -> None:
        Engine.abort(self, key)
        later = getattr(self, "later", [])
        self.later: list[Told] = []
        self.told = [*self.told, *(one for one in later if one.key == key)]
        self.later = [one for one in later if one.key != key]


class GaugeStale(Engine):
    """Gauges are those of the last iteration that had rows."""

    def step(self) -> None:
        super().step()
        if self.chunks:
            self.seen = super().gauges()

    def gauges(self) -> dict[str, int]:
        return getattr(self, "seen", None) or super().gauges()


class GaugeEarly(Engine):
    """A request that has said its first token is not counted as running any more."""

    def gauges(self) -> dict[str, int]:
        return {**super().gauges(), "running": sum(not job.said for job in self.running)}


class AbortsStayRunning(Engine):
    """A request that is taken back while it waits is counted as waiting for ever."""

    ghosts = 0

    def abort_waiting(self, job: Job) -> None:
        self.ghosts += 1

    def gauges(self) -> dict[str, int]:
        known = super().gauges()
        return {**known, "waiting": known["waiting"] + self.ghosts}


class WideBatchShifts(Engine):
    """In an iteration of more than 16 rows, those behind the 16th get each other's tokens."""

    def results(self, tokens: list[int]) -> list[int]:
        return [*tokens[:16], *tokens[17:], *tokens[16:17]]


class ManyRowsShift(Engine):
    """In an iteration of more than 64 rows, the last two get each other's tokens."""

    def results(self, tokens: list[int]) -> list[int]:
        return [*tokens[:-2], *tokens[:-3:-1]] if len(tokens) > 64 else tokens


class NumbersWrap(Engine):
    """The 300th request's text goes to the one before it."""

    served = 0

    def add(self, key: str, prompt: Sequence[int], limit: int, priority: int, stops: Sequence[int], samples: int) -> str:
        self.served += 1
        refusal = super().add(key, prompt, limit, priority, stops, samples)
        if self.served % 300 == 0:
            self.waiting = [job for job in self.waiting if job.key != key]
        return refusal
