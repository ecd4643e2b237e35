"""`batchproof summary`: what changed against a base, as Markdown for a pull request."""

from __future__ import annotations

from pathlib import Path

from batchproof.exit_status import ExitStatus, refuse
from batchproof.reports import Report, ReportError, measured, read, read_bench
from batchproof.reports.changes import changes
from batchproof.reports.compare import NotComparable, compare
from batchproof.reports.compare import to_markdown as compared
from batchproof.reports.formats import bench, report
from batchproof.reports.pull_request import to_summary
from batchproof.reports.wording import cell, line
from batchproof.stats.change import SLOWER


def summarise(new: Path, base: Path | None, *, gate: bool = False) -> ExitStatus:
    """Print the summary of a check or a bench; MISUSE if it cannot be read.

    A base that cannot be read is MISUSE too, after the summary without it: what is known is not lost. gate: FAILED if a MUST
    rule fails that did not, or is no longer judged, and if a figure that decides is SLOWER; INCONCLUSIVE if a MUST rule is
    inconclusive that was not.
    """
    if (new / bench.FILE).is_file() and not (new / report.FILE).is_file():
        return _of_bench(new, base, gate=gate)
    try:
        found = read(new)
    except ReportError as error:
        return refuse(line(error))
    if base is None:
        print(to_summary(found), end="")
        return ExitStatus.FINE
    try:
        before = read(base)
    except ReportError as error:
        print(to_summary(found, without=f"Not compared with a base: {error}"), end="")
        return refuse(f"the base cannot be read: {line(error)}")
    print(to_summary(found, before), end="")
    slower = False
    if any(one.get("figures") for one in (*before.results, *found.results)):
        slower = _figures(base, new)
    return _status(before, found, slower=slower) if gate else ExitStatus.FINE


def _of_bench(new: Path, base: Path | None, *, gate: bool) -> ExitStatus:
    try:
        found = read_bench(new)
    except ReportError as error:
        return refuse(line(error))
    print(f"## Batchproof bench: {cell(found.target)}\n")
    for one in found.measurements:
        print(f"- {cell(one['word'])} {cell(one['measurement'])}: {cell(one['headline'])}")
    if base is None:
        return ExitStatus.FINE
    slower = _figures(base, new)
    try:
        read_bench(base)
    except ReportError as error:
        return refuse(f"the base cannot be read: {line(error)}")
    return ExitStatus.FAILED if gate and slower else ExitStatus.FINE


def _figures(base: Path, new: Path) -> bool:
    """Print how the figures compare; return whether one that decides is SLOWER."""
    print("\n### Figures\n")
    try:
        found = compare([measured(base)], [measured(new)])
    except (ReportError, NotComparable) as error:
        print(f"Not compared: {cell(error)}")
        return False
    print(compared(found), end="")
    return found.change == SLOWER


def _status(before: Report, found: Report, *, slower: bool) -> ExitStatus:
    verdicts = changes(before, found)
    if slower or verdicts.worse:
        return ExitStatus.FAILED
    return ExitStatus.INCONCLUSIVE if verdicts.doubtful else ExitStatus.FINE
