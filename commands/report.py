"""`batchproof report`: the reports of several targets side by side, as Markdown; and one report as a page in a browser."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Iterable, Sequence
from pathlib import Path

from batchproof.exit_status import ExitStatus, refuse
from batchproof.reports import ReportError, read
from batchproof.reports.documents import PAGE, combine, write_page
from batchproof.reports.formats.report import FILE

OUT = Path("reports/out")


def print_reports(folders: Sequence[Path]) -> ExitStatus:
    """Print every report in these folders and one level below; return the worst status among them."""
    try:
        found = found_in(folders)
        print(combine(found))
        reports = [read(one) for one in found]
    except ReportError as error:
        return refuse(error)
    for one, report in zip(found, reports, strict=True):
        try:
            write_page(report, one)
        except OSError as error:
            refuse(f"cannot write {one / PAGE}: {error.strerror}")
    footers = [report.footer for report in reports]
    return worst(ExitStatus.FAILED if footer is None else footer["exit_status"] for footer in footers)


def open_report(folders: Sequence[Path]) -> ExitStatus:
    """Print the path of a report's page, and show it in a browser if there is a display. Without a folder: the newest."""
    if len(folders) > 1:
        return refuse("open shows one report: give it one folder")
    try:
        path = _page_of(folders[0] if folders else newest(OUT))
    except ReportError as error:
        return refuse(error)
    except OSError as error:
        return refuse(f"cannot write {error.filename}: {error.strerror}", ExitStatus.UNAVAILABLE)
    print(path)
    if sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(path.resolve().as_uri())
    return ExitStatus.FINE


def newest(folder: Path) -> Path:
    """Return the report folder in this folder that was written last; ReportError if there is none."""
    found = [one.parent for name in (FILE, PAGE) for one in folder.glob(f"*/{name}")]
    if not found:
        raise ReportError(f"no report in {folder}: name a report folder")
    return max(found, key=lambda one: max((one / name).stat().st_mtime_ns for name in (FILE, PAGE) if (one / name).exists()))


def _page_of(folder: Path) -> Path:
    """Return the page of a report folder; that of a check is written if it is missing or older than its report.jsonl."""
    page, lines = folder / PAGE, folder / FILE
    if lines.is_file() and not (page.is_file() and page.stat().st_mtime_ns >= lines.stat().st_mtime_ns):
        write_page(read(folder), folder)
    if not page.is_file():
        raise ReportError(f"{page}: no such file")
    return page


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
