"""`batchproof lint`: the rules about config.pbtxt, on files; no server."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from batchproof.exit_status import ExitStatus, refuse
from batchproof.fixtures.judging.catalogue import rules
from batchproof.fixtures.judging.checkers.config import INVALID, kind, lint

STYLES = {INVALID: "bold red", "hazardous": "yellow", "inert": "cyan"}


def lint_files(paths: Sequence[Path], *, strict: bool = False) -> ExitStatus:
    """Print what is wrong with each file.

    What the server refuses is FAILED, with `strict` every finding is, and a file that cannot be read is MISUSE.
    """
    console = Console(highlight=False, soft_wrap=True)
    failed, unreadable = False, None
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            unreadable = refuse(f"cannot read {path}: {why}")
            continue
        problems = [problem for problem in lint(text, str(path)) if rules()[problem.rule].level != "MAY"]
        for problem in problems:
            found = kind(problem.rule)
            failed |= strict or found == INVALID
            line = Text(f"{found:<10}", STYLES[found])
            console.print(line.append(f"{problem.rule:<17} {path}: {problem.message.removeprefix(f'{path}: ')}", "default"))
        if not problems:
            console.print(Text("ok        ", "green").append(str(path), "default"))
    return unreadable or (ExitStatus.FAILED if failed else ExitStatus.FINE)
