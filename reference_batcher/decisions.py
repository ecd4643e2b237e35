"""The words between the core and its shells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class Entry:
    """A queued request: its rows, when it was queued, and whatever the shell wants back (`item`)."""

    rows: int
    queued_ns: int
    item: Any


@dataclass(frozen=True)
class Dispatch:
    """Run `batch` on `instance` now."""

    instance: int
    batch: tuple[Entry, ...]


@dataclass(frozen=True)
class Reject:
    """Refuse these: their queue timeout is over."""

    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Wait:
    """Ask again at `until_ns`, or when something happens (None)."""

    until_ns: int | None


Decision = Dispatch | Reject | Wait
