"""The core's work while a batch fills up: what it looks at, and what it remembers."""

from __future__ import annotations

from typing import Any

from batchproof.reference_batcher import BatcherConfig
from batchproof.reference_batcher.core import DynamicBatcher
from batchproof.reference_batcher.decisions import Dispatch, Entry, Wait

HOUR = 3600 * 10**9


class Counted(Entry):
    """An entry that knows how often somebody asked for its rows."""

    asked = 0

    def __getattribute__(self, name: str) -> Any:
        if name == "rows":
            Counted.asked += 1
        return super().__getattribute__(name)


def looks(size: int) -> int:
    """How often the core asks for an entry's rows while a batch of `size` fills up under a queue delay."""
    core = DynamicBatcher(BatcherConfig(max_batch_size=size, max_queue_delay_ns=HOUR))
    Counted.asked = 0
    for number in range(size):
        core.enqueue(Counted(1, number, None))
        decision = core.poll(number)
    assert isinstance(decision, Dispatch)
    return Counted.asked


def test_a_batch_that_fills_up_is_not_counted_anew_by_each_arrival() -> None:
    """The work of filling a batch grows with its size and not with the square of it."""
    assert looks(256) <= 4 * looks(64) + 64


def test_a_head_that_changed_is_counted_anew() -> None:
    """What was remembered of a waiting head is forgotten when a member leaves or somebody overtakes."""
    levels = {"priority_levels": 2, "default_priority_level": 2}
    core = DynamicBatcher(BatcherConfig(max_batch_size=3, max_queue_delay_ns=HOUR, **levels))
    first, second, urgent, last = (Entry(1, 0, name, 1 if name == "urgent" else 2) for name in ("a", "b", "urgent", "c"))
    for entry in (first, second):
        core.enqueue(entry)
        assert core.poll(0) == Wait(HOUR)
    core.cancel(first)
    core.enqueue(urgent)
    assert core.poll(0) == Wait(HOUR)
    core.enqueue(last)

    assert core.poll(0) == Dispatch(0, (urgent, second, last), 0)
