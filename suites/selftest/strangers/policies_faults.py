"""Policies with one fault each, as trackers of other software report them."""

from __future__ import annotations

import time
from typing import Any

from batchproof.suites.selftest.strangers.policies import DEFAULT_BATCH, Item, Level, Policies


class SlotAtCompletion(Policies):
    """A batch gets its place in the order of answers when it is done, and not when it is formed."""

    def finish(self, number: int, results: list[Any]) -> None:
        """Deliver results as they come, one batch at a time."""
        with self.delivery:
            self.deliver(results)


class FailureBreaksOrder(Policies):
    """A batch that fails does not wait for its turn, and lets all that waited for theirs go with it."""

    def finish(self, number: int, results: list[Any]) -> None:
        """Flush at a failure; whoever comes too late for their turn is delivered at once."""
        failed = any(isinstance(result, Exception) for _, result in results)
        with self.delivery:
            if self.ordered and (failed or number < self.next_out):
                for _, waiting in sorted(self.done.items()):
                    self.deliver(waiting)
                self.next_out = max([number, self.next_out - 1, *self.done]) + 1
                self.done.clear()
                self.deliver(results)
                return
        super().finish(number, results)


class Drift(Policies):
    """If a request expires after another was cancelled, and no batch has left in between, a permit to run is lost."""

    lost = running = cancelled = 0

    def withdraw(self, item: Item) -> None:
        """Note a cancellation."""
        self.cancelled += item.waits
        super().withdraw(item)

    def expire(self, items: list[Item]) -> None:
        """Take a permit for a batch that nobody is left to run."""
        with self.changed:
            self.lost += bool(items and self.cancelled)
        super().expire(items)

    def ready(self, batch: list[Item]) -> float:
        """Return infinity while there is no permit."""
        instances = len(self.threads) - 1 or 1
        return super().ready(batch) if self.closed or self.running + self.lost < instances else 1e3

    def leave(self, batch: list[Item]) -> int:
        """Take a permit."""
        self.cancelled = 0
        self.running += 1
        return super().leave(batch)

    def run(self, number: int, batch: list[Item]) -> None:
        """Give it back."""
        super().run(number, batch)
        with self.changed:
            self.running -= 1
            self.changed.notify_all()


class LateKeepsPlace(Policies):
    """A request that was late and is served after all others keeps its place in the queue limit for good."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.kept: dict[int, int] = {}
        super().__init__(*arguments, **named)

    def demote(self, level: Level, item: Item) -> None:
        """Count it as late, once and for all."""
        super().demote(level, item)
        self.kept[id(level)] = self.kept.get(id(level), 0) + 1

    def full(self, level: Level) -> bool:
        """Return whether the requests in time, and all that were ever late, leave no room."""
        return bool(level.policy.limit) and len(level.fresh) + self.kept.get(id(level), 0) >= level.policy.limit


class LastLevelAlone(Policies):
    """A loop over the levels ends before the last, whose requests are served only when no others wait."""

    def form(self) -> list[Item]:
        """Fill a batch from all levels but the last; if there is nothing, from the last."""
        last = self.levels[-1]
        if len(self.levels) == 1 or not any(level.count() for level in self.levels[:-1]):
            return super().form()
        self.levels = self.levels[:-1]
        try:
            return super().form()
        finally:
            self.levels = [*self.levels, last]


class CancelIsExpiry(Policies):
    """A request that is cancelled while it waits is counted as one that timed out."""

    def count(self, *names: str) -> None:
        """Count something."""
        super().count(*("expired" if name == "cancelled" else name for name in names))


class DefaultIsLess(Policies):
    """The documentation says that a batch has at most 32 rows by default; the code takes fewer than 32."""

    def __init__(self, model: Any, max_batch: int = DEFAULT_BATCH - 1, *arguments: Any, **named: Any) -> None:
        super().__init__(model, max_batch, *arguments, **named)


class ReaperReset(Policies):
    """A new request sets the alarm of the reaper anew, so that late requests wait for as long as others come."""

    def reap(self) -> None:
        """Refuse late requests when the newest deadline has come."""
        while True:
            with self.changed:
                ends = [item.deadline for level in self.levels for item in level.fresh if item.deadline]
                late = self.overdue() if ends and max(ends) <= time.monotonic() else []
                if not late:
                    if self.closed and not any(level.count() for level in self.levels):
                        break
                    self.changed.wait(max(ends) - time.monotonic() if ends else None)
            self.expire(late)


class Latched(Policies):
    """A level that was full takes requests again when a batch leaves it, and not when its requests are late or cancelled."""

    latched: frozenset[int] = frozenset()

    def full(self, level: Level) -> bool:
        """Return whether a level is, or has been, full."""
        if super().full(level):
            self.latched |= {id(level)}
        return id(level) in self.latched

    def leave(self, batch: list[Item]) -> int:
        """Open the levels of a batch."""
        self.latched -= {id(self.levels[item.level]) for item in batch}
        return super().leave(batch)
