"""The values that pass between a core and a shell: a request goes in as an `Entry`, and a `Decision` comes out."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from .errors import BatcherError

EXPIRED, CANCELLED = "expired", "cancelled"


@dataclass(eq=False, slots=True)
class Entry:
    """A request, as a core sees it. Nobody changes it; it is not frozen because that takes three times as long to make.

    rows: how many rows it adds to a batch. queued_ns: when it arrived. item: the shell's own record of the request, which no
    core looks at. priority: the level that the request asks for (0: none). timeout_ns: the queue timeout that it asks for
    (0: none). shape: only requests of equal shape may share a batch. sequence: the correlation ID (0 or "": none). start,
    end: it is the first or the last request of its sequence. A discipline that must know more about a request (a number of
    tokens) adds a field with a default.
    """

    rows: int
    queued_ns: int
    item: Any
    priority: int = 0
    timeout_ns: int = 0
    shape: Hashable = None
    sequence: int | str = 0
    start: bool = False
    end: bool = False

    @property
    def inputs(self) -> Any:
        """The tensors of the request, for a batching strategy; the simulator's requests have none."""
        return self.item.inputs


@dataclass(frozen=True, slots=True)
class Dispatch:
    """Run `batch` on `instance` now.

    staying: those in the batch that need more than this run. It does not answer them; the core dispatches them again. A
    discipline that lets a request go through the model once has none. slots: the slot of each request's sequence; empty
    without sequences.
    """

    instance: int
    batch: tuple[Entry, ...]
    staying: tuple[Entry, ...] = ()
    slots: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Reject:
    """Refuse these requests: their queue timeout is over, another request of their sequence was cancelled, or `error`."""

    entries: tuple[Entry, ...]
    reason: str = EXPIRED
    error: BatcherError | None = None


@dataclass(slots=True)
class Wait:
    """Ask again at `until_ns`, or as soon as something happens. None: only when something happens.

    for_instance: every instance is busy, and no arrival can change this answer. A shell need not ask after an arrival then,
    and always may. (Not frozen, for the same reason as `Entry`: many of these are made.)
    """

    until_ns: int | None
    for_instance: bool = False


Decision = Dispatch | Reject | Wait
