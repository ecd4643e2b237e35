"""What a check says: one row of the table, and the part of the adapter that it is about."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

MS = 1_000_000


class Level(str, Enum):
    """How a check ended."""

    OK = "ok"
    NOTE = "note"  # nothing has to be mended, and somebody may want to know
    WRONG = "wrong"  # verdicts would be about the adapter, not about the batcher
    UNSEEN = "not seen"  # it could not be tried


@dataclass(frozen=True)
class Finding:
    """One row.

    check: its name. says: what was seen. part: the part of the adapter that it is about: a verb (`submit`), or a name that
    the adapter calls (`Response`, `Witness`, `TargetInfo`). mend: what to do.
    """

    check: str
    level: Level
    says: str
    part: str = ""
    mend: str = ""


def ok(check: str, says: str) -> Finding:
    """Return a row of which nothing has to be said."""
    return Finding(check, Level.OK, says)


def note(check: str, says: str, part: str = "", mend: str = "") -> Finding:
    """Return a row that does not make the check fail."""
    return Finding(check, Level.NOTE, says, part, mend)


def wrong(check: str, says: str, part: str, mend: str) -> Finding:
    """Return a row that has to be mended."""
    return Finding(check, Level.WRONG, says, part, mend)


def unseen(check: str, says: str) -> Finding:
    """Return a row of something that could not be tried."""
    return Finding(check, Level.UNSEEN, says)


def ms(ns: float) -> str:
    """Return a duration as a reader wants it: `0.4 ms`, `12 ms`."""
    return f"{ns / MS:.1f} ms" if abs(ns) < 10 * MS else f"{ns / MS:.0f} ms"
