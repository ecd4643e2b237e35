"""The sequence batcher with the strategy `direct`: each sequence keeps its place in the batch.

Everything that decides which requests run together, and when, is in this file; `sequence_slots` says which sequence holds
which slot. A run of an instance takes the next request of each of its sequences that has one, at the place of its slot. It
leaves when the instance is free and one of these holds:

    no minimum        minimum_slot_utilization is 0, or there is no delay
    enough            the slots that have a request are at least that share of the instance's slots
    the delay is over the oldest of these requests was queued max_queue_delay ago or earlier
    draining          the batcher is closing

All requests of a run have one shape, that of the request that waits longest; a sequence whose next request has another
shape waits for a later run. The slot of a sequence is free as soon as its request with END is in a run: the instance is
busy until that has ended.
"""

from __future__ import annotations

from collections import deque

from .config import BatcherConfig
from .decisions import CANCELLED, Decision, Dispatch, Entry, Reject, Wait
from .errors import BatcherError
from .sequence_config import SequenceBatching
from .sequence_slots import Sequence, Slots


class DirectBatcher:
    """Sequences in front of N instances; a `Core`."""

    def __init__(self, config: BatcherConfig, sequence: SequenceBatching) -> None:
        self.slots = Slots(config, sequence)
        self.free = deque(range(config.instances))
        self.draining = False
        self._delay_ns = config.max_queue_delay_ns
        self._enough = sequence.minimum_slot_utilization * self.slots.per_instance
        self._running: dict[int, tuple[Sequence, ...]] = {}
        self._cancelled: list[Entry] = []

    @property
    def waiting(self) -> int:
        """How many requests are queued."""
        return self.slots.waiting

    @property
    def drained(self) -> bool:
        """Whether the batcher was closing and nothing is queued."""
        return self.draining and not self.slots.waiting and not self._cancelled

    def enqueue(self, entry: Entry) -> BatcherError | None:
        """Queue a request, or return why it is refused."""
        return self.slots.enqueue(entry)

    def cancel(self, entry: Entry) -> bool:
        """Forget a request, and with it the rest of its sequence, which is refused; False if it is in a batch already."""
        sequence = self.slots.holding(entry)
        if sequence is None:
            return False
        sequence.queued.remove(entry)
        self._cancelled += sequence.queued
        sequence.queued.clear()
        self.slots.end(sequence)
        return True

    def finished(self, instance: int) -> None:
        """Note that `instance` is free again."""
        for sequence in self._running.pop(instance):
            sequence.inside -= 1
            sequence.touched_ns = None
            self.slots.rest(sequence)
        self.free.append(instance)

    def drain(self) -> None:
        """Serve what is queued without waiting for company."""
        self.draining = True
        self.slots.drain()

    def poll(self, now_ns: int) -> Decision:
        """Answer the question "what now?"."""
        if self._cancelled:
            rest, self._cancelled = tuple(self._cancelled), []
            return Reject(rest, CANCELLED)
        idle_ns = self.slots.end_idle(now_ns)
        late, late_ns = self.slots.late(now_ns)
        if late:
            return Reject(late)
        moments = [moment for moment in (idle_ns, late_ns) if moment is not None]
        for instance in self.free:
            if members := self._members(instance):
                due_ns = self._due_ns(members, now_ns)
                if due_ns <= now_ns:
                    return self._dispatch(instance, members)
                moments.append(due_ns)
        return Wait(min(moments, default=None))

    def _members(self, instance: int) -> list[Sequence]:
        """Return the sequences of an instance that have a request, by slot, as far as these have one shape."""
        held = self.slots.held[instance]
        ready = [held[slot] for slot in sorted(held) if held[slot].queued]
        if not ready:
            return ready
        shape = min(ready, key=lambda one: one.queued[0].queued_ns).queued[0].shape
        return [one for one in ready if one.queued[0].shape == shape]

    def _due_ns(self, members: list[Sequence], now_ns: int) -> int:
        if self.draining or len(members) >= self._enough:
            return now_ns
        return min(one.queued[0].queued_ns for one in members) + self._delay_ns

    def _dispatch(self, instance: int, members: list[Sequence]) -> Dispatch:
        batch = tuple(one.queued.popleft() for one in members)
        slots = tuple(one.slot for one in members)
        for one in members:
            one.inside += 1
            if one.ended and not one.queued:
                self.slots.end(one)
        self.free.remove(instance)
        self._running[instance] = tuple(members)
        return Dispatch(instance, batch, slots=slots)
