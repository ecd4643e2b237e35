"""The stand-in's rate limiter: executions that wait for resources, the one that has run least for its priority first."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from batchproof.targets.protocol import TargetError
from batchproof.targets.repository import Group


class Limiter:
    """Units of resources, and who waits for them. limits: how many units there are of each."""

    def __init__(self, limits: Mapping[str, int]) -> None:
        self._limits = dict(limits)
        self._free = dict(limits)
        self._ran: dict[int, int] = {}
        self._waiting: dict[object, Group] = {}
        self._changed = threading.Condition()

    def check(self, groups: Sequence[Group]) -> None:
        """Raise TargetError if a group could never run."""
        for group in groups:
            for name, units in group.resources:
                if units > self._limits.get(name, 0):
                    has = self._limits.get(name, 0)
                    raise TargetError(f"resource '{name}' is limited to {has}, and the minimum required count is {units}")

    @contextmanager
    def held(self, group: Group) -> Iterator[None]:
        """Wait until it is this group's turn and there are its units, and hold them."""
        if not group.resources:
            yield
            return
        mine = object()
        with self._changed:
            self._waiting[mine] = group
            while self._next() is not mine:
                self._changed.wait()
            del self._waiting[mine]
            self._changed.notify_all()
            for name, units in group.resources:
                self._free[name] -= units
            self._ran[id(group)] = self._ran.get(id(group), 0) + 1
        try:
            yield
        finally:
            with self._changed:
                for name, units in group.resources:
                    self._free[name] += units
                self._changed.notify_all()

    def _next(self) -> object | None:
        """Return who waits for the group that has run least, counted by its priority, if there is enough for it."""
        rank = {one: self._ran.get(id(group), 0) * (group.priority or 1) for one, group in self._waiting.items()}
        first = min(rank, key=rank.__getitem__)
        return first if all(self._free[name] >= units for name, units in self._waiting[first].resources) else None
