"""What is said and kept when the process that judged a target has ended in the middle of its work."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from batchproof.exit_status import ExitStatus, refuse
from batchproof.reports import ReportError
from batchproof.reports.documents import write_all
from batchproof.reports.formats.report import end_early
from batchproof.reports.wording import line

HOW = "find out what in the adapter or its stack does that, or run the stack in a process of its own"


def died(how: str, told: Mapping[str, str]) -> ExitStatus:
    """Say how the process ended and what it was doing, and end its report; return the exit status.

    told: `doing`, in words, and `report`, its folder, each if there was one.
    """
    doing = f" while {line(told['doing'])}" if "doing" in told else ""
    said = f"the process that runs the target {how}{doing}: {HOW}"
    if "report" in told:
        folder = Path(told["report"])
        try:
            write_all(end_early(folder, ExitStatus.FAILED, f"the process {how}{doing}"), folder)
        except (OSError, ReportError) as error:
            said = f"{said}; its report cannot be ended: {error}"
        else:
            said = f"{said}; what was judged before is in {folder}/summary.md and report.html"
    return refuse(said, ExitStatus.FAILED)
