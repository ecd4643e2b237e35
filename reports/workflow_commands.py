"""GitHub's workflow commands: lines of a job's output that mark a place in a pull request, or speak about the run.

Source: https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

from typing import Literal

Level = Literal["error", "warning", "notice"]


def annotation(level: Level, message: str, *, title: str = "", file: str = "", line: int = 0, column: int = 0) -> str:
    """Return one workflow command. Nothing in its values can end it or begin another.

    file: a path in the repository, or "" if it speaks about the run. line, column: from 1; 0 if there is none.
    """
    place = {"file": file, "line": line, "col": column, "title": title}
    given = ",".join(f"{name}={_property(str(value))}" for name, value in place.items() if value)
    return f"::{level}{f' {given}' if given else ''}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
