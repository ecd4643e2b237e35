"""The front of the queue, read once: a batch that waits for company is not put together anew at each arrival.

Nothing is decided here. `Lookahead.resume` returns what the core found the last time that it looked, and the requests that
wait behind that. A core that forgets before each look reads the whole front again and comes to the same decisions: a
property in the selftests compares the two.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from .decisions import Entry


@dataclass(slots=True)
class Head:
    """The requests at the front of the queue that fit into one batch, as far as the core has looked.

    rows: of all of them. oldest_ns: when the oldest of them was queued. ready: how many of them may leave without waiting
    for company (0: none). grows: whether a newcomer may join them. record: of a batching strategy, once it has made one.
    """

    batch: list[Entry] = field(default_factory=list)
    rows: int = 0
    oldest_ns: int = sys.maxsize
    ready: int = 0
    grows: bool = True
    record: tuple[Any, ...] = ()


class Lookahead:
    """Remembers the head of one queue.

    queue: is iterated in the order in which requests are served. ended: is told of each head that is forgotten.
    """

    def __init__(self, queue: Iterable[Entry], ended: Callable[[Head], None] | None = None) -> None:
        self._queue = queue
        self._ended = ended
        self._head = Head()

    def resume(self) -> tuple[Head, Iterator[Entry]]:
        """Return the head so far, for the caller to extend, and the requests behind it.

        The head is empty if what it held is not the front of the queue any more.
        """
        behind, batch = iter(self._queue), self._head.batch
        if batch and [*islice(behind, len(batch))] != batch:
            self.forget()
            behind = iter(self._queue)
        return self._head, behind

    def forget(self) -> None:
        """Read the queue from its front the next time."""
        head, self._head = self._head, Head()
        if self._ended:
            self._ended(head)
