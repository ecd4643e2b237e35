"""Who waits, and in which order they are served.

There is a line for each priority level, and the most urgent level is served first. Within a level, requests that are in time
are served first come, first served. Behind them come those whose queue timeout is over and whose policy says DELAY.
(Triton: core/src/scheduler_utils.cc, PriorityQueue.)
"""

from __future__ import annotations

import heapq
import itertools
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from itertools import chain

from .config import DELAY, BatcherConfig
from .decisions import Entry

Line = OrderedDict[Entry, None]  # first in, first out; taking one out of the middle costs no more


class RequestQueue:
    """The waiting requests of one model."""

    def __init__(self, config: BatcherConfig) -> None:
        levels = range(1, config.priority_levels + 1) if config.priority_levels else (0,)
        self._default = config.level(0)
        self._policies = {level: config.policy(level) for level in levels}
        self._in_time: dict[int, Line] = {level: OrderedDict() for level in levels}
        self._late: dict[int, Line] = {level: OrderedDict() for level in levels}
        self._lines = [line for level in levels for line in (self._in_time[level], self._late[level])]  # as they are served
        self._deadlines: list[tuple[int, int, int, Entry]] = []
        self._ticket = itertools.count()

    def __len__(self) -> int:
        """How many wait."""
        return sum(map(len, self._lines))

    def __bool__(self) -> bool:
        """Whether anybody waits."""
        return any(self._lines)

    def __iter__(self) -> Iterator[Entry]:
        """All who wait, in the order in which they are served."""
        return chain.from_iterable(self._lines)

    def _level(self, entry: Entry) -> int:
        return entry.priority if entry.priority in self._in_time else self._default

    @property
    def expires(self) -> bool:
        """Whether any level has a queue timeout."""
        return any(policy.queue_timeout_ns for policy in self._policies.values())

    def full_for(self, entry: Entry) -> int | None:
        """Return the queue limit of the entry's level if that many requests wait there already, else None."""
        level = self._level(entry)
        limit = self._policies[level].max_queue_size
        return limit if limit and len(self._in_time[level]) + len(self._late[level]) >= limit else None

    def push(self, entry: Entry) -> None:
        """Add a request."""
        level = self._level(entry)
        self._in_time[level][entry] = None
        if timeout_ns := self._policies[level].timeout_ns(entry.timeout_ns):
            heapq.heappush(self._deadlines, (entry.queued_ns + timeout_ns, next(self._ticket), level, entry))

    def remove(self, entry: Entry) -> bool:
        """Remove a request; False if it does not wait here."""
        level = self._level(entry)
        for line in (self._in_time[level], self._late[level]):
            if entry in line:
                del line[entry]
                return True
        return False

    def take(self, batch: Sequence[Entry]) -> None:
        """Remove the requests of a batch; all of them wait here."""
        for line in filter(None, self._lines):
            batch = [entry for entry in batch if line.pop(entry, True)]
            if not batch:
                return

    def expire(self, now_ns: int) -> tuple[tuple[Entry, ...], int | None]:
        """Remove the requests whose timeout is over; return those to reject, and the next moment at which one is over.

        Those whose policy says DELAY go behind their level. None: no timeout is running.
        """
        expired: list[Entry] = []
        while (expiry_ns := self._next_expiry_ns()) is not None and now_ns >= expiry_ns:
            _, _, level, entry = heapq.heappop(self._deadlines)
            del self._in_time[level][entry]
            if self._policies[level].timeout_action == DELAY:
                self._late[level][entry] = None
            else:
                expired.append(entry)
        return tuple(expired), expiry_ns

    def _next_expiry_ns(self) -> int | None:
        """Return the first moment at which a timeout is over, one nanosecond after the deadline; None if none is running."""
        while self._deadlines and self._deadlines[0][3] not in self._in_time[self._deadlines[0][2]]:
            heapq.heappop(self._deadlines)  # it has left already
        return self._deadlines[0][0] + 1 if self._deadlines else None
