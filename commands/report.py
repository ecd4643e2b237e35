"""`batchproof report`: the reports of several targets side by side, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from batchproof.exit_status import ExitStatus, refuse
from batchproof.reports import ReportError, read
from batchproof.reports.documents import combine
from batchproof.reports.formats.report import FILE


def print_reports(folders: Sequence[Path]) -> ExitStatus:
    """Print every report in these folders and one level below; return the worst status among them."""
    try:
        found = found_in(folders)
        print(combine(found))
        footers = [read(one).footer for one in found]
    except ReportError as error:
        return refuse(error)
    return worst(ExitStatus.FAILED if footer is None else footer["exit_status"] for footer in footers)


def found_in(folders: Sequence[Path]) -> list[Path]:
    """Return every report folder among these folders and one level below; ReportError if there is none."""
    found = [inner for folder in folders for inner in (folder, *sorted(folder.glob("*"))) if (inner / FILE).is_file()]
    if not found:
        raise ReportError(f"no {FILE} in {', '.join(map(str, folders))}")
    return found


def worst(statuses: Iterable[int]) -> ExitStatus:
    """Return the status of several runs together: failure outweighs doubt, and doubt outweighs FINE.

    MISUSE, INTERRUPTED, and any status that pytest chose count as a failure.
    """
    found = set(statuses)
    doubts = (ExitStatus.INCONCLUSIVE, ExitStatus.NOTHING)
    if found - {ExitStatus.FINE, *doubts}:
        return ExitStatus.FAILED
    return next((doubt for doubt in doubts if doubt in found), ExitStatus.FINE)
