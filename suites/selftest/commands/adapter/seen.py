"""Facts written by hand, which the tests of the judges change in one thing."""

from __future__ import annotations

from dataclasses import replace

from batchproof.commands.adapter.answers import Ended
from batchproof.commands.adapter.backlog import Backlog, Reading
from batchproof.commands.adapter.finding import MS, Finding
from batchproof.commands.adapter.timing import Delayed, Waits

FINE = Ended(answered=True)
NEVER = Ended(answered=False)
FAILED = Ended(answered=True, error="Refused(FAILED): boom", kind="failed")
EXPIRED = Ended(answered=True, error="Refused(EXPIRED): late", kind="expired")
PLAIN = Waits(0, 20 * MS, (MS, 2 * MS), (MS,))
LATE = Delayed(150 * MS, (150 * MS, 151 * MS), after_busy_ns=2 * MS, grew=True)
LINES = ({"instance": 0, "batch": 1, "enter_ns": 5, "serials": [1], "rows": [1]},
         {"instance": 0, "batch": 2, "enter_ns": 9, "serials": [2, 3], "rows": [1, 1]})  # fmt: skip
HELD = Backlog(
    4, before=0, plug_logged_ns=MS, opened=True, readings=(Reading(0, 0, 0), Reading(1, 1, MS)), after=Reading(0, 0, 0),
    lines=LINES, serials=(("plug", 1), ("b0", 2), ("b1", 3)), answered=("plug", "b0", "b1"),
)
STAGED = replace(
    HELD, serials=(("plug", 1),), answered=(),
    lines=tuple({"instance": 0, "batch": number, "enter_ns": number, "serials": [number * 10 + one for one in range(size)],
                 "rows": []} for number, size in enumerate((1, 4, 3), 1)),
)  # fmt: skip


def row(findings: tuple[Finding, ...], check: str) -> tuple[str, str]:
    """Return how one check ended, and what it says."""
    (found,) = (one for one in findings if one.check == check)
    return found.level.value, found.says
