"""An export of another history: `batchproof history export`."""

from __future__ import annotations

from batchproof.reports.formats import history
from batchproof.reports.history.imports.source import Source
from batchproof.reports.history.run import Run

NAME = "batchproof history"


def fits(source: Source) -> bool:
    """Return whether a file is of this kind."""
    return source.first_line().startswith('{"type": "header"')


def read(source: Source) -> tuple[tuple[Run, ...], bool]:
    """Return the runs in a file, and whether it is truncated; ReportError says what is wrong with it."""
    found = history.read(source.raw)
    return found.runs, found.truncated
