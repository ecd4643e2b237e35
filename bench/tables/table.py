"""A table as bench.md and the console show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MS = 1_000_000
Cell = str | int | float | bool | None


@dataclass(frozen=True)
class Table:
    """Rows are as long as heads; None is shown as a dash. note: a paragraph below it."""

    title: str
    heads: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]
    note: str = ""

    def facts(self) -> dict[str, Any]:
        """Return JSON data, as `reports/schema/bench.schema.json` describes it."""
        shown = {"title": self.title, "heads": list(self.heads), "rows": [list(row) for row in self.rows]}
        return shown | ({"note": self.note} if self.note else {})


def in_ms(ns: float | None) -> float | None:
    """Return milliseconds."""
    return None if ns is None else ns / MS


def in_short_ms(ns: int | None) -> float | None:
    """Return milliseconds with two decimals."""
    return None if ns is None else round(ns / MS, 2)


def percent(share: float | None) -> float | None:
    """Return a share in percent, with two decimals."""
    return None if share is None else round(100 * share, 2)
