"""`batchproof summary`: what changed against a base, as Markdown for a pull request."""

from __future__ import annotations

from pathlib import Path

from batchproof.commands.output import written
from batchproof.exit_status import ExitStatus, refuse
from batchproof.reports import ReportError, read
from batchproof.reports.changes import changes
from batchproof.reports.pull_request import to_summary
from batchproof.reports.wording import line


def summarise(new: Path, base: Path | None, *, gate: bool = False) -> ExitStatus:
    """Print the summary of a report; MISUSE if it cannot be read.

    A base that cannot be read is MISUSE too, after the summary without it: what is known is not lost. gate: FAILED if a MUST
    rule fails that did not, or is no longer judged; INCONCLUSIVE if one is inconclusive that was not.
    """
    return written(lambda: _summarise(new, base, gate=gate))


def _summarise(new: Path, base: Path | None, *, gate: bool) -> ExitStatus:
    try:
        report = read(new)
    except ReportError as error:
        return refuse(line(error))
    if base is None:
        print(to_summary(report), end="")
        return ExitStatus.FINE
    try:
        before = read(base)
    except ReportError as error:
        print(to_summary(report, without=f"Not compared with a base: {error}"), end="")
        return refuse(f"the base cannot be read: {line(error)}")
    print(to_summary(report, before), end="")
    found = changes(before, report)
    if gate and found.worse:
        return ExitStatus.FAILED
    return ExitStatus.INCONCLUSIVE if gate and found.doubtful else ExitStatus.FINE
