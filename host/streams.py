"""Standard output and standard error of a command: a reader that leaves, or a disk that is full, stops nothing.

Otherwise whoever prints, anywhere, would have to expect that, and libraries answer it with a status of their own. So what
can no longer be written is dropped, the command goes on to its end, and its report is whole. `lost` says what went wrong.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

STDOUT, STDERR = 1, 2


class _Way(io.FileIO):
    """The way to a file descriptor. After the first error it leads nowhere."""

    error: OSError | None = None

    def write(self, data: ReadableBuffer, /) -> int:
        """Write or drop all of it; return the number of bytes."""
        rest = memoryview(data).cast("B")
        size = len(rest)
        while rest and self.error is None:
            try:
                rest = rest[super().write(rest) or 0 :]
            except OSError as error:
                self.error = error
        return size


_ways: list[tuple[int, _Way]] = []  # each with what it belongs to, STDOUT or STDERR


def guard() -> None:
    """Let `sys.stdout` and `sys.stderr` lead through ways that cannot raise; a character that one lacks is escaped.

    A descriptor that is closed leads nowhere from now on, so that no file that is opened later gets its number.
    """
    for number, name in ((STDOUT, "stdout"), (STDERR, "stderr")):
        old = getattr(sys, name)
        if isinstance(old, io.TextIOWrapper):
            old.flush()
            setattr(sys, name, _stream(number, number, old.encoding, lines=old.line_buffering))
        elif old is None:  # closed
            setattr(sys, name, _stream(number, _nowhere(number), "utf-8", lines=False))


@contextlib.contextmanager
def opened_again(number: int) -> Iterator[TextIO]:
    """Yield a stream to where STDOUT or STDERR leads now, whatever the descriptor is redirected to meanwhile."""
    place = os.dup(number)
    stream = _stream(number, place, "utf-8", lines=False)
    try:
        yield stream
    finally:
        stream.flush()
        os.close(place)


def lost() -> OSError | None:
    """Return why something could not be written to standard output, or None if all of it was."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.flush()
    return next((way.error for number, way in _ways if number == STDOUT and way.error), None)


def _nowhere(number: int) -> int:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    if nowhere != number:
        os.dup2(nowhere, number)
        os.close(nowhere)
    return number


def _stream(number: int, place: int, encoding: str, *, lines: bool) -> TextIO:
    way = _Way(place, "wb", closefd=False)
    stream = io.TextIOWrapper(io.BufferedWriter(way), encoding, "backslashreplace", line_buffering=lines)
    _ways.append((number, way))
    return stream
