"""Who waits, and in which order they are served.

One line a priority level, the most urgent first; in each level those that are in time, first come first served, and behind
them those whose queue timeout is over and whose policy says DELAY. (Triton: core/src/scheduler_utils.cc, PriorityQueue.)
"""

from __future__ import annotations

import heapq
import itertools
from collections import OrderedDict
from collections.abc import Iterator, Sequence

from .config import DELAY, BatcherConfig
from .decisions import Entry

Line = OrderedDict[Entry, None]  # first in, first out, and anybody may leave at once


class RequestQueue:
    """The waiting requests of one model."""

    def __init__(self, config: BatcherConfig) -> None:
        levels = range(1, config.priority_levels + 1) if config.priority_levels else (0,)
        self._default = config.level(0)
        self._policies = {level: config.policy(level) for level in levels}
        self._in_time: dict[int, Line] = {level: OrderedDict() for level in levels}
        self._late: dict[int, Line] = {level: OrderedDict() for level in levels}
        self._deadlines: list[tuple[int, int, int, Entry]] = []
        self._ticket = itertools.count()

    def __len__(self) -> int:
        """All who wait."""
        return sum(map(len, self._in_time.values())) + sum(map(len, self._late.values()))

    def __bool__(self) -> bool:
        """Somebody waits."""
        return any(self._in_time.values()) or any(self._late.values())

    def __iter__(self) -> Iterator[Entry]:
        """In the order in which they are served."""
        for level in self._in_time:
            yield from self._in_time[level]
            yield from self._late[level]

    def _level(self, entry: Entry) -> int:
        return entry.priority if entry.priority in self._in_time else self._default

    def full_for(self, entry: Entry) -> int | None:
        """Return the limit of the entry's level if as many wait there already, or None."""
        level = self._level(entry)
        limit = self._policies[level].max_queue_size
        return limit if limit and len(self._in_time[level]) + len(self._late[level]) >= limit else None

    def push(self, entry: Entry) -> None:
        """Take a request in."""
        level = self._level(entry)
        self._in_time[level][entry] = None
        if timeout_ns := self._policies[level].timeout_ns(entry.timeout_ns):
            heapq.heappush(self._deadlines, (entry.queued_ns + timeout_ns, next(self._ticket), level, entry))

    def remove(self, entry: Entry) -> bool:
        """Take a request out; False if it does not wait here."""
        level = self._level(entry)
        for line in (self._in_time[level], self._late[level]):
            if entry in line:
                del line[entry]
                return True
        return False

    def take(self, batch: Sequence[Entry]) -> None:
        """Take out those who are in a batch; all of them wait here."""
        for line in filter(None, (*self._in_time.values(), *self._late.values())):
            batch = [entry for entry in batch if line.pop(entry, True)]
            if not batch:
                return

    def take_expired(self, now_ns: int) -> tuple[Entry, ...]:
        """Remove and return whose time is over and whose policy says REJECT; those of DELAY go behind their level."""
        if not self._deadlines:
            return ()
        expired = []
        while (deadline_ns := self.next_expiry_ns()) is not None and now_ns >= deadline_ns:
            _, _, level, entry = heapq.heappop(self._deadlines)
            del self._in_time[level][entry]
            if self._policies[level].timeout_action == DELAY:
                self._late[level][entry] = None
            else:
                expired.append(entry)
        return tuple(expired)

    def next_expiry_ns(self) -> int | None:
        """The first moment at which somebody's time is over: one nanosecond after the timeout."""
        while self._deadlines and self._deadlines[0][3] not in self._in_time[self._deadlines[0][2]]:
            heapq.heappop(self._deadlines)  # it left before
        return self._deadlines[0][0] + 1 if self._deadlines else None
