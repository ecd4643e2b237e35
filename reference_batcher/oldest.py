"""The sequence batcher with the strategy `oldest`: a dynamic batcher picks from the next requests of the candidates.

Each instance has `max_candidate_sequences` slots, and a dynamic batcher of its own (see `core`). Of each sequence that
holds a slot, one request at most is in that batcher or in the model: the next one follows when it is answered, the oldest
requests first. There the queue delay begins when the request is passed on, and preferred sizes count as they do for any
dynamic batcher. The slot of a sequence is free when the run with its END has ended.
"""

from __future__ import annotations

from dataclasses import replace

from .config import BatcherConfig
from .core import DynamicBatcher
from .decisions import CANCELLED, Decision, Dispatch, Entry, Reject, Wait
from .errors import BatcherError
from .sequence_config import SequenceBatching
from .sequence_slots import Sequence, Slots


class OldestBatcher:
    """Candidate sequences in front of N instances; a `Core`."""

    def __init__(self, config: BatcherConfig, sequence: SequenceBatching) -> None:
        self.slots = Slots(config, sequence)
        one = replace(config, instances=1, sequence=None)
        self.inner = [DynamicBatcher(one) for _ in range(config.instances)]
        self.draining = False
        self._passed: dict[Entry, tuple[Entry, Sequence]] = {}  # what is in a dynamic batcher, and whose it is
        self._running: dict[int, tuple[Sequence, ...]] = {}
        self._cancelled: list[Entry] = []

    @property
    def waiting(self) -> int:
        """How many requests are queued."""
        return self.slots.waiting + len(self._passed)

    @property
    def drained(self) -> bool:
        """Whether the batcher was closing and nothing is queued."""
        return self.draining and not self.waiting and not self._cancelled

    def enqueue(self, entry: Entry) -> BatcherError | None:
        """Queue a request, or return why it is refused."""
        return self.slots.enqueue(entry)

    def cancel(self, entry: Entry) -> bool:
        """Forget a request, and with it the rest of its sequence, which is refused; False if it is in a batch already."""
        if entry in self._passed:
            passed, sequence = self._passed.pop(entry)
            self.inner[sequence.instance].cancel(passed)
            sequence.inside -= 1
        elif found := self.slots.holding(entry):
            sequence = found
            sequence.queued.remove(entry)
        else:
            return False
        self._cancelled += sequence.queued
        sequence.queued.clear()
        self.slots.stop(sequence)
        self._end_if_over(sequence)
        return True

    def finished(self, instance: int) -> None:
        """Note that `instance` is free again, and that the sequences in its batch may send their next requests."""
        self.inner[instance].finished(0)
        for sequence in self._running.pop(instance):
            sequence.inside -= 1
            sequence.touched_ns = None
            self.slots.rest(sequence)
            self._end_if_over(sequence)

    def drain(self) -> None:
        """Serve what is queued without waiting for company."""
        self.draining = True
        self.slots.drain()
        for one in self.inner:
            one.drain()

    def poll(self, now_ns: int) -> Decision:
        """Answer the question "what now?"."""
        if self._cancelled:
            rest, self._cancelled = tuple(self._cancelled), []
            return Reject(rest, CANCELLED)
        idle_ns = self.slots.end_idle(now_ns)
        late, late_ns = self.slots.late(now_ns)
        if late:
            return Reject(late)
        self._pass_on(now_ns)
        moments = [moment for moment in (idle_ns, late_ns) if moment is not None]
        for instance, inner in enumerate(self.inner):
            match inner.poll(now_ns):
                case Dispatch(_, batch):
                    return self._dispatch(instance, batch)
                case Wait(until_ns) if until_ns is not None:
                    moments.append(until_ns)
        return Wait(min(moments, default=None))

    def _pass_on(self, now_ns: int) -> None:
        """Give each dynamic batcher the next request of its candidates that have none under way, the oldest first."""
        ready = [one for held in self.slots.held for one in held.values() if one.queued and not one.inside]
        for sequence in sorted(ready, key=lambda one: one.queued[0].queued_ns):
            entry = sequence.queued.popleft()
            passed = Entry(1, now_ns, entry, shape=entry.shape)
            self.inner[sequence.instance].enqueue(passed)
            sequence.inside += 1
            self._passed[entry] = passed, sequence

    def _dispatch(self, instance: int, batch: tuple[Entry, ...]) -> Dispatch:
        entries = tuple(passed.item for passed in batch)
        members = tuple(self._passed.pop(entry)[1] for entry in entries)
        self._running[instance] = members
        return Dispatch(instance, entries, slots=tuple(one.slot for one in members))

    def _end_if_over(self, sequence: Sequence) -> None:
        if sequence.ended and sequence.quiet:
            self.slots.end(sequence)
