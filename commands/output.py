"""Documents that commands write: to standard output in any encoding, to a reader or a disk that takes no more, to a file."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn, TextIO

from rich.console import Console

from batchproof.exit_status import ExitStatus, refuse


class Output(Console):
    """A terminal, or a file, whose closed pipe is handled like everyone else's."""

    def on_broken_pipe(self) -> NoReturn:
        """Hand it on: rich would end the process with the status that means that something was found."""
        raise BrokenPipeError


def written(run: Callable[[], ExitStatus]) -> ExitStatus:
    """Return the status of what is run, or UNAVAILABLE if its output cannot be written.

    Nothing is said if the reader has closed the pipe, as `head` does. Characters that the output lacks are escaped.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal need not have every character
    try:
        status = run()
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:  # files that cannot be read are reported where they are read
        if not isinstance(error, BrokenPipeError):
            refuse(f"cannot write to standard output: {error.strerror}")
        _forget()
        return ExitStatus.UNAVAILABLE
    return status


@contextlib.contextmanager
def whole(path: Path) -> Iterator[TextIO]:
    """Yield a file that appears under its name only when it is whole. OSError if it cannot be written.

    A link stays one, and what it leads to is written. A pipe or a device is written to, and never replaced.
    """
    if path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8", newline="") as file:
            yield file
        return
    place = path.resolve()
    beside = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        with beside.open("w", encoding="utf-8", newline="") as file:
            yield file
        beside.replace(place)
    finally:
        beside.unlink(missing_ok=True)


def _forget() -> None:
    """Let what is left in the buffer go nowhere, so that the end of the process does not complain of it again."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        return
