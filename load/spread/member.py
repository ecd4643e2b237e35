"""One worker of a crew, as the crew sees it: who it is, what its clock is worth, and what it has said of the present run."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from batchproof.load.samples import Samples, SamplesError
from batchproof.load.spread.clocks import ClockEstimate, Exchange
from batchproof.load.spread.messages import PIECE, Message, samples_of
from batchproof.stats.arrays import Ints

SILENCE_S = 5.0  # it is asked for the time several times a second: after so long it is lost
KEPT = 3_000  # exchanges: about ten minutes
ENOUGH = 10  # exchanges, before its clock is believed


@dataclass
class Told:
    """What a worker has said of one run. due_ns: of its share. done: its last message; {}: not yet."""

    run: int
    due_ns: Ints
    ready: bool = False
    pieces: list[dict[str, Any]] = field(default_factory=list)
    done: Message = field(default_factory=dict)

    def samples(self) -> Samples:
        """Return the samples of its share; SamplesError if they are something else."""
        return samples_of(self.due_ns, self.pieces)


class Member:
    """A worker. client: what Locust calls it. lost: why nothing more is expected of it; "": it is there."""

    def __init__(self, name: str, client: str, hello: Message) -> None:
        self.name, self.client = name, client
        self.place = (hello.get("host"), hello.get("net"))
        self.lost = ""
        self.told: Told | None = None
        self._exchanges: deque[Exchange] = deque(maxlen=KEPT)
        self._heard_s = time.monotonic()

    @property
    def known(self) -> bool:
        """Whether a run can start with it."""
        return len(self._exchanges) >= ENOUGH

    @property
    def clock(self) -> ClockEstimate:
        """What its clock is worth, from all exchanges so far."""
        return ClockEstimate(list(self._exchanges))

    def hear(self, message: Message) -> None:
        """Take note of a message; one that makes no sense is the end of it."""
        self._heard_s = time.monotonic()
        try:
            self._hear(message)
        except (KeyError, TypeError, ValueError, SamplesError) as error:
            self.lose(f"it said what makes no sense ({message.get('is')}: {type(error).__name__}: {error})")

    def lose(self, why: str) -> None:
        """Expect nothing more of it. The first reason stands."""
        self.lost = self.lost or why

    def look(self) -> None:
        """Lose it if it has been silent for too long."""
        if time.monotonic() - self._heard_s > SILENCE_S:
            self.lose(f"it has been silent for {SILENCE_S:g} s")

    def _hear(self, message: Message) -> None:
        told = self.told
        mine = told is not None and message.get("run") == told.run
        match message["is"]:
            case "exchange":
                self._exchanges.append(Exchange(*(int(message[name]) for name in ("t1", "t2", "t3", "t4"))))
            case "leaves":
                self.lose(f"it left: {message['why']}")
            case "ready" if told and mine:
                told.ready = True
            case "columns" if told and mine:
                if len(told.pieces) * PIECE > len(told.due_ns):
                    raise ValueError("more samples than requests")
                told.pieces.append(message)
            case "done" if told and mine:
                told.done = message
            case "failed" if told and mine:
                self.lose(str(message["why"]))
