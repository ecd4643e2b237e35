"""Every exit status of every command: its number, its name, and its one meaning. The help texts and README derive theirs."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType

WIDTH = 80


class ExitStatus(IntEnum):
    """How a command ends. `pytest --pyargs batchproof.suites` keeps pytest's own statuses where pytest decides."""

    meaning: str

    def __new__(cls, number: int, meaning: str = "") -> ExitStatus:  # noqa: PYI034 - there is no Self in Python 3.10
        """Make a member of its number and its meaning."""
        status = int.__new__(cls, number)
        status._value_ = number
        status.meaning = meaning
        return status

    FINE = 0, "nothing is wrong: the target is conformant, every measurement passes, the files are clean"
    FAILED = 1, "something is wrong: a MUST rule or a measurement failed, a figure is slower, targets differ, or one died"
    MISUSE = 2, "the command line, a file it names, or an environment variable is wrong; the message says what to change"
    UNAVAILABLE = 4, "the target cannot be reached or started, or the results cannot be written"
    NOTHING = 5, "nothing was judged or measured: all of it was skipped, or cannot be observed"
    INCONCLUSIVE = 75, "nothing failed, but a result is inconclusive or invalid, for instance because the host was too noisy"
    INTERRUPTED = 130, "interrupted by Ctrl-C, SIGTERM or SIGHUP; the report keeps what was finished before"


_ALWAYS = (ExitStatus.FINE, ExitStatus.MISUSE, ExitStatus.UNAVAILABLE, ExitStatus.INTERRUPTED)


def _and(*others: ExitStatus) -> tuple[ExitStatus, ...]:
    return tuple(sorted({*_ALWAYS, *others}))


COMMANDS: Mapping[str, tuple[ExitStatus, ...]] = MappingProxyType(
    {
        "check": tuple(ExitStatus),
        "hunt": tuple(ExitStatus),
        "bench": tuple(ExitStatus),
        "load-worker": _and(),
        "tune": tuple(ExitStatus),
        "ab": tuple(ExitStatus),
        "diff": _and(ExitStatus.FAILED, ExitStatus.NOTHING),
        "rules": _and(),
        "figures": _and(),
        "compare": _and(ExitStatus.FAILED, ExitStatus.INCONCLUSIVE),
        "lint": _and(ExitStatus.FAILED),
        "explain": _and(ExitStatus.FAILED),
        "mutants": _and(ExitStatus.FAILED),
        "report": _and(ExitStatus.FAILED, ExitStatus.NOTHING, ExitStatus.INCONCLUSIVE),
        "summary": _and(ExitStatus.FAILED, ExitStatus.INCONCLUSIVE),
        "matrix": _and(),
        "site": _and(),
        "history": _and(ExitStatus.FAILED, ExitStatus.NOTHING),
        "truth": _and(ExitStatus.FAILED, ExitStatus.NOTHING),
        "witness": _and(),
        "image": _and(),
        "env": _and(),
        "new": _and(),
        "adapter": _and(ExitStatus.FAILED),
        "lab": tuple(ExitStatus),
    }
)


def help_text(command: str) -> str:
    r"""Return the paragraph at the end of a command's help; its `\b` tells click to leave the lines as they are."""
    rows = [
        textwrap.fill(status.meaning, WIDTH, initial_indent=f"  {status:<5d}", subsequent_indent=" " * 7)
        for status in COMMANDS[command]
    ]
    return "\n".join(["\b", "Exit status:", *rows])


def markdown() -> str:
    """Return the table of all statuses, as README shows it."""
    rows = [f"| {status:d} | {status.meaning} | {_given_by(status)} |" for status in ExitStatus]
    return "\n".join(["| exit status | meaning | commands |", "|---|---|---|", *rows])


def _given_by(status: ExitStatus) -> str:
    names = [name for name, statuses in COMMANDS.items() if status in statuses]
    return "all" if len(names) == len(COMMANDS) else ", ".join(f"`{name}`" for name in names)


def refuse(why: object, status: ExitStatus = ExitStatus.MISUSE) -> ExitStatus:
    """Say on standard error why a command stops; return the status for it to end with.

    A server, a file or its name may be quoted, and none of them can steer the terminal.
    """
    sys.stderr.write(f"batchproof: {harmless(why)}\n")
    return status



def harmless(text: object) -> str:
    """Return the text without what a terminal would obey, or what makes it look like another."""
    return "".join(one for one in str(text) if one.isprintable() or one in "\n\t")
