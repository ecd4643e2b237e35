"""The load on an engine: arrivals, and the lengths of each request's prompt and text."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from batchproof.load.generation.lengths import Lengths
from batchproof.load.schedule import Schedule, ScheduleError
from batchproof.stats.arrays import Ints

Clients = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Demand:
    """Requests for text, in the order in which they are due.

    schedule: the arrivals. prompts, texts: tokens of each prompt and of each text, int64 [n], at least 1. client: which
    client sends it, int32 [n]. spec: reproduces the lengths.
    """

    schedule: Schedule
    prompts: Ints
    texts: Ints
    client: Clients
    spec: str = ""

    def __post_init__(self) -> None:
        """ScheduleError unless each request has its lengths."""
        shape = self.schedule.due_ns.shape
        if not self.prompts.shape == self.texts.shape == self.client.shape == shape:
            raise ScheduleError(f"each of {self.count} requests needs a prompt, a text and a client")
        if min(self.prompts.min(), self.texts.min()) < 1:
            raise ScheduleError("a prompt and a text have at least one token")

    @property
    def count(self) -> int:
        """Requests."""
        return self.schedule.count

    @property
    def longest(self) -> int:
        """The largest number of tokens of a prompt and its text together."""
        return int((self.prompts + self.texts).max())

    def first(self, count: int) -> Demand:
        """Return the first `count` requests, at least one."""
        schedule = Schedule(self.schedule.due_ns[:count], self.schedule.spec, self.schedule.length_ns)
        return Demand(schedule, self.prompts[:count], self.texts[:count], self.client[:count], self.spec)

    def at_rate(self, rate: float, seconds: float = 0.0) -> Demand:
        """Return the same requests at another rate, in requests/s: all gaps scale by the same factor.

        seconds: drop requests that arrive later; 0: keep all.
        """
        factor = self.schedule.rate / rate
        due = (self.schedule.due_ns * factor).astype(np.int64)
        end_ns = round(self.schedule.end_ns * factor)
        kept = due < seconds * 1e9 if seconds else np.ones(self.count, np.bool_)
        end_ns = min(end_ns, round(seconds * 1e9)) if seconds else end_ns
        if not kept.any():
            raise ScheduleError(f"{self.spec}: no request arrives within {seconds:g} s at {rate:g} requests/s")
        told = f"{self.schedule.spec} at {rate:.3f}/s"
        lengths = {name: getattr(self, name)[kept] for name in ("prompts", "texts", "client")}
        return replace(self, schedule=Schedule(due[kept], told, end_ns), **lengths)


def demand(schedule: Schedule, prompts: Lengths, texts: Lengths, seed: int, *, longest: int, client: int = 0) -> Demand:
    """Return requests with lengths drawn for them.

    longest: of a prompt and its text together. A prompt that would leave no room for its text is cut.
    """
    drawn = texts.drawn(schedule.count, seed + 1, longest - 1)
    return Demand(
        schedule,
        np.minimum(prompts.drawn(schedule.count, seed), longest - drawn),
        drawn,
        np.full(schedule.count, client, np.int32),
        f"prompts {prompts.spec}, texts {texts.spec}, seed {seed}",
    )


def merged(*parts: Demand) -> Demand:
    """Return all requests in order of time; those of the first part have client 0, those of the second client 1."""
    due = np.concatenate([one.schedule.due_ns for one in parts])
    order = np.argsort(due, kind="stable")
    whose = np.repeat(np.arange(len(parts), dtype=np.int32), [one.count for one in parts])
    spec = " with ".join(dict.fromkeys(one.spec for one in parts))
    told = " with ".join(one.schedule.spec for one in parts)
    length_ns = max(one.schedule.end_ns for one in parts)
    prompts = np.concatenate([one.prompts for one in parts])[order]
    texts = np.concatenate([one.texts for one in parts])[order]
    return Demand(Schedule(due[order], told, length_ns), prompts, texts, whose[order], spec)
