"""The words between the core and its shells."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any


@dataclass(eq=False, slots=True)
class Entry:
    """A request as it arrives. Nobody changes it; it is not frozen because one that is takes three times as long to make.

    queued_ns: when. item: whatever the shell wants back. priority: the level that it asks for (0: none).
    timeout_ns: the queue timeout that it asks for (0: none). shape: requests share a batch only if theirs are equal.
    """

    rows: int
    queued_ns: int
    item: Any
    priority: int = 0
    timeout_ns: int = 0
    shape: Hashable = None


@dataclass(frozen=True)
class Dispatch:
    """Run `batch` on `instance` now; `number` counts the batches in the order in which they were formed."""

    instance: int
    batch: tuple[Entry, ...]
    number: int


@dataclass(frozen=True)
class Reject:
    """Refuse these: their queue timeout is over."""

    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Wait:
    """Ask again at `until_ns`, or when something happens (None)."""

    until_ns: int | None


Decision = Dispatch | Reject | Wait
