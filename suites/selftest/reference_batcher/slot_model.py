"""What a batcher of sequences does with its slots, written once more, without a look at how the cores do it.

The model hears what arrives, what is taken back, and when the target's model is entered and left. It says which requests are
refused, which instance and slot each sequence has, and how many requests wait; the caller compares. No two things that it
hears may happen at the same moment, but for what follows from one another.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from batchproof.reference_batcher.sequence_config import SequenceBatching
    from batchproof.targets.witness.probe import Payload


@dataclass(eq=False)
class Held:
    """One sequence. place: its slot and instance; None while it waits for one."""

    id: int
    queue: list[int] = field(default_factory=list)
    running: int = 0
    place: tuple[int, int] | None = None
    closing: bool = False
    over: bool = False
    quiet_since_ns: int = 0


class SlotModel:
    """All slots of one model. Requests are their serials. wrong: what the target did otherwise, a sentence each."""

    def __init__(self, batching: SequenceBatching, size: int, instances: int) -> None:
        self.direct = batching.strategy == "direct"
        self.idle_ns = batching.max_sequence_idle_ns
        count = batching.max_candidate_sequences if not self.direct and batching.max_candidate_sequences else size
        self.free = [(slot, instance) for slot in range(count) for instance in range(instances)]
        self.line: list[Held] = []
        self.known: dict[int, Held] = {}
        self.all: list[Held] = []
        self.of: dict[int, Held] = {}
        self.refused: set[int] = set()
        self.cancelled: set[int] = set()
        self.ran: set[int] = set()
        self.wrong: list[str] = []

    @property
    def waiting(self) -> int:
        """How many requests have not been in a batch."""
        return sum(len(one.queue) for one in self.all)

    def arrives(self, now_ns: int, serial: int, asked: Payload) -> None:
        """A request comes."""
        self._tick(now_ns)
        held = self.known.get(asked.sequence)
        if asked.rows != 1 or not asked.sequence or (held is None and not asked.start):
            self.refused.add(serial)
            return
        if held is None:
            held = self.known[asked.sequence] = Held(asked.sequence)
            self.all.append(held)
            self.line.append(held)
        held.queue.append(serial)
        self.of[serial] = held
        held.quiet_since_ns = now_ns
        if asked.end:
            held.closing = True
            del self.known[asked.sequence]
        self._give()

    def taken_back(self, now_ns: int, serial: int) -> None:
        """A request is cancelled: what its sequence has queued goes too, but for what the dynamic batcher has."""
        self._tick(now_ns)
        held = self.of.get(serial)
        if held is None or serial not in held.queue:
            return
        passed_on = not self.direct and held.place is not None and not held.running and held.queue[0] != serial
        self.cancelled |= set(held.queue[passed_on:])
        del held.queue[passed_on:]
        held.closing = True
        if self.known.get(held.id) is held:
            del self.known[held.id]
        if self.direct or not (held.running or held.queue):
            self._end(held)

    def enters(self, now_ns: int, instance: int, serials: list[int], slots: list[int]) -> None:
        """A batch enters the model. slots: the places of its requests in the batch."""
        self._tick(now_ns)
        for serial, slot in zip(serials, slots, strict=True):
            held = self.of.get(serial)
            if held is None or not held.queue or held.queue[0] != serial:
                self.wrong.append(f"{serial} was not the next of its sequence")
                continue
            here = (slot, instance) if self.direct else instance
            there = held.place if self.direct or held.place is None else held.place[1]
            if here != there:
                self.wrong.append(f"{serial} ran in slot {slot} of instance {instance}, not in {held.place}")
            held.queue.pop(0)
            held.running += 1
            self.ran.add(serial)
            if self.direct and held.closing and not held.queue:
                self._end(held)

    def leaves(self, now_ns: int, serials: list[int]) -> None:
        """A batch has left the model."""
        self._tick(now_ns)
        for serial in serials:
            if (held := self.of.get(serial)) is not None:
                held.running -= 1
                held.quiet_since_ns = now_ns
                if not self.direct and held.closing and not held.queue:
                    self._end(held)

    def _tick(self, now_ns: int) -> None:
        """End what was idle for too long, in the order in which it was due; at one moment, the lowest slot first."""
        idle = [one for one in self.known.values() if not one.queue and not one.running]
        for one in sorted(idle, key=lambda one: (one.quiet_since_ns, one.place or ())):
            if one.quiet_since_ns + self.idle_ns <= now_ns:
                del self.known[one.id]
                self._end(one)

    def _end(self, held: Held) -> None:
        if held.over:
            return
        held.over = True
        if held in self.line:
            self.line.remove(held)
        elif held.place is not None:
            self.free.append(held.place)
            self._give()

    def _give(self) -> None:
        while self.line and self.free:
            place = min(self.free)
            self.free.remove(place)
            self.line.pop(0).place = place
