"""Sequences: which of them hold a slot, which wait for one, and when one is over. Both strategies use it.

A sequence is the requests of one correlation ID, from the one with START to the one with END. It gets a slot, which is a
place in one instance, and keeps both to its end: the instance holds its state. Where every slot is taken, a sequence waits
as a whole in the backlog, first come, first served. The lowest slot that is free goes first, over all instances.

A sequence is over when its request with END has run, when nothing of it was queued or in the model for
`max_sequence_idle_ns`, or when one of its requests is cancelled. A START under the ID of a sequence that is not over ends
that one early: its slot goes on with the new sequence, behind the requests that are queued.

(Triton: core/src/sequence_batch_scheduler; documented in server/docs/user_guide/architecture.md, "Stateful Models".)
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from .config import BatcherConfig
from .decisions import Entry
from .errors import BatcherError, Invalid, Oversize
from .sequence_config import SequenceBatching


@dataclass(eq=False, slots=True)
class Sequence:
    """One sequence.

    queued: its requests that have not been in a batch, in their order. touched_ns: when something of it was last queued or
    in the model; None until the core is next told the time. inside: how many of its requests are in the model. instance,
    slot: -1 while it waits for a slot. ended: its request with END has come, so no more of it will.
    """

    id: Hashable
    queued: deque[Entry] = field(default_factory=deque)
    touched_ns: int | None = None
    inside: int = 0
    instance: int = -1
    slot: int = -1
    ended: bool = False

    @property
    def quiet(self) -> bool:
        """Whether nothing of it is queued or in the model."""
        return not self.queued and not self.inside


class Slots:
    """All sequences of one model."""

    def __init__(self, config: BatcherConfig, sequence: SequenceBatching) -> None:
        self._sequence = sequence
        self._idle_ns = sequence.max_sequence_idle_ns
        self._name = config.name
        per_instance = sequence.slots(config.max_batch_size)
        self.per_instance = per_instance
        self.backlog: deque[Sequence] = deque()
        self.held: list[dict[int, Sequence]] = [{} for _ in range(config.instances)]
        self._free = [(slot, instance) for slot in range(per_instance) for instance in range(config.instances)]
        heapq.heapify(self._free)
        self._taking: dict[Hashable, Sequence] = {}  # those that take more requests, by correlation ID
        self._resting: dict[Sequence, None] = {}  # those that take more and have none, the longest first
        self._rested: list[Sequence] = []  # since the core was last told the time
        self._timed = False  # whether any request has brought a timeout
        self._draining = False

    @property
    def waiting(self) -> int:
        """How many requests have not been in a batch."""
        return sum(len(one.queued) for one in self._all())

    def enqueue(self, entry: Entry) -> BatcherError | None:
        """Queue a request behind those of its sequence, or return why it is refused."""
        self.end_idle(entry.queued_ns)
        if entry.rows != 1:
            return Oversize(f"a request of a sequence must have batch-size 1, not {entry.rows}, for '{self._name}'")
        if not entry.sequence:
            return Invalid(f"a request for '{self._name}' needs a correlation ID that is not 0 or empty")
        if problem := self._sequence.id_problem(entry.sequence):
            return Invalid(f"the correlation ID of a request for '{self._name}' {problem}")
        sequence = self._taking.get(entry.sequence)
        if sequence is None:
            if not entry.start:
                return Invalid(f"sequence {entry.sequence} of '{self._name}' must begin with a request that has START")
            sequence = Sequence(entry.sequence)
            self._taking[entry.sequence] = sequence
            self.backlog.append(sequence)
        sequence.queued.append(entry)
        sequence.touched_ns = entry.queued_ns
        self._resting.pop(sequence, None)
        self._timed = self._timed or entry.timeout_ns > 0
        if entry.end:
            self.stop(sequence)
        self.fill()
        return None

    def fill(self) -> None:
        """Give free slots to the sequences that wait for one."""
        while self._free and self.backlog:
            sequence = self.backlog.popleft()
            sequence.slot, sequence.instance = heapq.heappop(self._free)
            self.held[sequence.instance][sequence.slot] = sequence

    def stop(self, sequence: Sequence) -> None:
        """Note that a sequence takes no more requests: the next one with its ID begins another."""
        sequence.ended = True
        self._resting.pop(sequence, None)
        if self._taking.get(sequence.id) is sequence:
            del self._taking[sequence.id]

    def end(self, sequence: Sequence) -> None:
        """Note that a sequence is over: its slot is free, and it takes no more requests."""
        self.stop(sequence)
        if sequence.instance < 0:
            self.backlog.remove(sequence)
        elif self.held[sequence.instance].get(sequence.slot) is sequence:
            del self.held[sequence.instance][sequence.slot]
            heapq.heappush(self._free, (sequence.slot, sequence.instance))
            self.fill()

    def rest(self, sequence: Sequence) -> None:
        """Note that nothing of a sequence is in the model any more: if nothing is queued either, it is idle from now on."""
        if sequence.quiet and not sequence.ended:
            self._resting[sequence] = None
            self._rested.append(sequence)

    def end_idle(self, now_ns: int) -> int | None:
        """End the sequences that were idle for too long; return when the next one will have been, None if none can be."""
        while self._rested:
            sequence = self._rested.pop()
            sequence.touched_ns = now_ns if sequence.touched_ns is None else sequence.touched_ns
        over, next_ns = [], None
        for sequence in self._resting:
            due_ns = (sequence.touched_ns or 0) + self._idle_ns
            if now_ns < due_ns and not self._draining:
                next_ns = due_ns
                break
            over.append(sequence)
        for sequence in sorted(over, key=lambda one: (one.touched_ns or 0, one.slot, one.instance)):
            self.end(sequence)
        return next_ns

    def late(self, now_ns: int) -> tuple[tuple[Entry, ...], int | None]:
        """Take out of the backlog what waited for longer than a request's timeout, sequence by sequence; and when next."""
        late: list[Entry] = []
        next_ns: int | None = None
        if not self._timed:
            return (), None
        for sequence in list(self.backlog):
            due = [entry.queued_ns + entry.timeout_ns for entry in sequence.queued if entry.timeout_ns]
            if due and now_ns > min(due):
                late += sequence.queued
                sequence.queued.clear()
                self.end(sequence)
            elif due:
                next_ns = min(due) + 1 if next_ns is None else min(next_ns, min(due) + 1)
        return tuple(late), next_ns

    def holding(self, entry: Entry) -> Sequence | None:
        """Return the sequence in which a request is queued; None if it is not queued."""
        return next((one for one in self._all() if entry in one.queued), None)

    def drain(self) -> None:
        """Note that no request will come any more: a sequence without one is over."""
        self._draining = True

    def _all(self) -> Iterator[Sequence]:
        for held in self.held:
            yield from held.values()
        yield from self.backlog
