"""A backlog: many requests are queued while the model is held, and then all are served. It shows what a long queue costs.

The first requests are taken in while few wait, and the last ones while all others do; they are served the other way round.
So one backlog has both, side by side, and what differs is how many wait.
"""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from batchproof.load.answers import outcome_of_future
from batchproof.load.samples import OUTCOMES, UNANSWERED
from batchproof.load.workload import Served
from batchproof.targets.protocol import Kind

PARTS = 8  # of the requests; a stretch is one of them
ANSWERED, FULL, SILENT = 0, OUTCOMES.index(Kind.FULL.value), OUTCOMES.index(UNANSWERED)
Moment = tuple[int, int]  # on the deployment's clock, and the processor time that was used until then


@dataclass(frozen=True)
class Stretch:
    """While so many requests were taken in, or answered. spent_ns: the processor time that this took."""

    requests: int
    duration_ns: int
    spent_ns: int

    @classmethod
    def between(cls, requests: int, begin: Moment, end: Moment) -> Stretch:
        """Return the stretch from one moment to another."""
        return cls(requests, end[0] - begin[0], end[1] - begin[1])


@dataclass(frozen=True)
class Backlog:
    """What was measured.

    stretches: `few in`, `many in`, `many out` and `few out`: what was taken in and answered, and how many waited; `all in`
    and `all out`. lasted_ns: from the first request to the last answer. full: refused because the queue was full. errors:
    neither answered nor refused for that; silent: how many of them were not answered in time. seen: the queue was seen to be
    as long as it should be.
    """

    stretches: dict[str, Stretch]
    requests: int
    lasted_ns: int
    full: int
    errors: int
    silent: int
    seen: bool


class _Run:
    """The requests of one backlog."""

    def __init__(self, model: Served, part: int, wait_ns: int, used_ns: Callable[[], int]) -> None:
        self._model, self._part, self._wait_ns, self._used_ns = model, part, wait_ns, used_ns
        self._number = itertools.count(1)
        self.futures: list[Future[Any]] = []
        self.answers: list[Moment] = []

    def moment(self) -> Moment:
        return self._model.clock.now_ns(), self._used_ns()

    def until(self, condition: Callable[[], bool]) -> bool:
        clock = self._model.clock
        return clock.wait(condition, clock.now_ns() + self._wait_ns)

    def send(self) -> None:
        """Send one part of them."""
        for number in range(self._part):
            self.futures.append(future := self._model.submit(number))
            future.add_done_callback(self._settled)

    def serve(self) -> None:
        """Wait until all are answered, or nothing more comes."""
        while (seen := len(self.answers)) < PARTS and self.until(lambda: len(self.answers) > seen):
            pass

    def _settled(self, _: Future[Any]) -> None:
        if next(self._number) % self._part == 0:
            self.answers.append(self.moment())


def backlog(model: Served, count: int, wait_ns: int, used_ns: Callable[[], int], shared: int) -> Backlog:
    """Queue `count` requests behind one that is held, and let it go. The deployment has `release` and `queued`.

    wait_ns: how long the queue may take to grow by a part of them, and as many answers to come. used_ns: the processor time
    that the target and this process have used so far. shared: how many may be in the model with the one that is held.
    """
    release, queued = model.deployment.release, model.deployment.queued
    assert release is not None
    assert queued is not None
    part = max(1, count // PARTS)
    run, gate, seen = _Run(model, part, wait_ns, used_ns), secrets.randbits(60), True
    held = model.submit(0, hold=gate)
    run.until(lambda: not queued())
    taken = [run.moment()]
    for number in range(1, PARTS + 1):
        run.send()
        seen = run.until(lambda least=number * part - shared: queued() >= least) and seen  # type: ignore[misc]
        taken.append(run.moment())
    release(gate)
    run.serve()
    run.until(held.done)
    answers = [*run.answers, *[run.moment()] * (PARTS - len(run.answers))]
    outcomes = [outcome_of_future(one) if one.done() else SILENT for one in (held, *run.futures)]
    most = PARTS - 1  # until the first answers, the model opens its gate
    moments = {
        "few in": (1, taken[0], taken[1]), "many in": (1, taken[-2], taken[-1]), "all in": (PARTS, taken[0], taken[-1]),
        "many out": (1, answers[0], answers[1]), "few out": (1, answers[-2], answers[-1]),
        "all out": (most, answers[0], answers[-1]),
    }  # fmt: skip
    return Backlog(
        {name: Stretch.between(parts * part, begin, end) for name, (parts, begin, end) in moments.items()},
        requests=len(outcomes),
        lasted_ns=answers[-1][0] - taken[0][0],
        full=outcomes.count(FULL),
        errors=len(outcomes) - outcomes.count(ANSWERED) - outcomes.count(FULL),
        silent=outcomes.count(SILENT),
        seen=seen,
    )
