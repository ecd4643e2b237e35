"""`batchproof lint`: the rules about config.pbtxt, on files; no server."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from batchproof.fixtures.judging.catalogue import rules
from batchproof.fixtures.judging.checkers.config import lint

UNREADABLE = 2


def lint_files(paths: Sequence[Path]) -> int:
    """Print what is wrong with each file; return 0, 1 if a MUST is broken, 2 if a file cannot be read."""
    console, errors = Console(highlight=False, soft_wrap=True), Console(stderr=True, highlight=False, soft_wrap=True)
    broken, unreadable = 0, 0
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            errors.print(Text(f"batchproof: cannot read {path}: {why}"))
            unreadable += 1
            continue
        problems = lint(text, str(path))
        for problem in problems:
            level = rules()[problem.rule].level
            broken += level == "MUST"
            line = Text(f"{level:<7}", "bold red" if level == "MUST" else "yellow")
            console.print(line.append(f"{problem.rule:<17} {path}: {problem.message.removeprefix(f'{path}: ')}", "default"))
        if not problems:
            console.print(Text("ok     ", "green").append(str(path), "default"))
    return UNREADABLE if unreadable else int(broken > 0)
