"""What measurements have in common that do the same with each work of a bench."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from batchproof.bench.result import Result
from batchproof.load.workload import Skipped, Work
from batchproof.stats.gates import worst


class WorkFound(Protocol):
    """The figures of one work: a frozen type."""

    @property
    def valid(self) -> bool:
        """They are a result."""

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why they are not."""

    @property
    def verdict(self) -> str:
        """PASS, FAIL, INCONCLUSIVE, or "" where nothing was judged."""

    @property
    def says(self) -> str:
        """Its part of the headline."""

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""


T = TypeVar("T", bound=WorkFound)


@dataclass(frozen=True)
class Works(Generic[T]):
    """The figures of each work, by its name, and the reasons why others were left out."""

    works: Mapping[str, T]
    skipped: Mapping[str, str]

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        return {"works": {name: one.facts() for name, one in self.works.items()}, "skipped": dict(self.skipped)}


def measured(works: Sequence[Work], measure: Callable[[Work], T]) -> Works[T]:
    """Measure each work; Skipped if that is possible for none of them. A work is left out if `measure` raises Skipped."""
    found: dict[str, T] = {}
    skipped: dict[str, str] = {}
    for work in works:
        try:
            found[work.name] = measure(work)
        except Skipped as reason:
            skipped[work.name] = str(reason)
    if not found:
        raise Skipped("; ".join(dict.fromkeys(skipped.values())))
    return Works(found, skipped)


def summed_up(found: Works[T]) -> Result:
    """Return the result of a measurement that did the same with each work."""
    works = found.works
    return Result(
        valid=all(one.valid for one in works.values()),
        headline="; ".join(f"{name}: {one.says}" for name, one in works.items()),
        reasons=tuple(f"{name}: {reason}" for name, one in works.items() for reason in one.reasons),
        verdict=worst(one.verdict for one in works.values()),
        found=found,
    )
