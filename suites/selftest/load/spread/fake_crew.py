"""A crew without processes: members answer at once, on clocks that are as wrong as a test wants them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from batchproof.load.samples import Samples
from batchproof.load.spread.member import Member
from batchproof.load.spread.messages import Message, sample_pieces, unpacked
from batchproof.load.spread.place import here

MS = 1_000_000


@dataclass
class Behaviour:
    """What a member does. late_ns: it sends so late. why: it says so against its run. reply: changes what it says."""

    offset_ns: int = 0
    late_ns: int = 0
    why: tuple[str, ...] = ()
    reply: Callable[[Message], Message | None] = lambda message: message
    round_trip_ns: int = MS
    place: tuple[str, str] = here()


class FakeCrew:
    """Looks like a `Crew` to `joint_run`. asked: every message, by name."""

    def __init__(self, **behaviours: Behaviour) -> None:
        self.asked: list[tuple[str, Mapping[str, Any]]] = []
        self._does = behaviours
        self._due: dict[str, list[Any]] = {name: [] for name in behaviours}
        self.members = {name: member(name, does) for name, does in behaviours.items()}

    def present(self) -> list[Member]:
        """Return those that are not lost."""
        return sorted((one for one in self.members.values() if not one.lost), key=lambda one: one.name)

    def lost(self) -> list[Member]:
        """Return those that are."""
        return [one for one in self.members.values() if one.lost]

    def wait(self, over: Callable[[], bool], _seconds: float) -> bool:
        """Nothing takes time, so what is not over now never is."""
        return over()

    def tell(self, to: Member, message: Mapping[str, Any]) -> None:
        """Let a member do what it is asked for."""
        self.asked.append((to.name, message))
        does = self._does[to.name]
        for answer in self._answers(to.name, does, message):
            if (said := does.reply({"run": message["run"], **answer})) is not None:
                to.hear(said)

    def _answers(self, name: str, does: Behaviour, message: Mapping[str, Any]) -> list[Message]:
        match message["do"]:
            case "due":
                self._due[name].append(unpacked(message["column"], "<i8"))
            case "prepare":
                return [{"is": "ready"}]
            case "start":
                pieces, self._due[name] = self._due[name], []
                due = np.concatenate(pieces)
                sent = due + does.late_ns
                samples = Samples(
                    due, sent, sent + 10 * MS, np.zeros(len(due), np.uint8), np.zeros(len(due), np.int32)
                )
                columns = [{"is": "columns", **piece} for piece in sample_pieces(samples)]
                done = {"is": "done", "requests": len(due), "reasons": list(does.why), "facts": {"stalled_ns": 3}}
                return [*columns, done]
        return []


def member(name: str, does: Behaviour) -> Member:
    """Return a member whose clock has been asked often enough."""
    host, net = does.place
    found = Member(name, f"client-{name}", {"host": host, "net": net})
    began_ns, way = time.monotonic_ns() - 1000 * MS, does.round_trip_ns // 2
    for number in range(20):
        t1 = began_ns + number * 50 * MS
        t2 = t1 + way + does.offset_ns
        found.hear({"is": "exchange", "t1": t1, "t2": t2, "t3": t2 + 1000, "t4": t1 + 2 * way + 1000})
    return found
