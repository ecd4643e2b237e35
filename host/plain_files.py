"""Files that are named by a user: read if they are plain, and refused if reading them may never end."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

KINDS = {stat.S_IFIFO: "a pipe", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device", stat.S_IFDIR: "a folder"}


class NotPlainError(OSError):
    """It is a device, a pipe or the like; `strerror` says what."""

    def __init__(self, path: str | Path, what: str) -> None:
        super().__init__(errno.EINVAL, f"it is {what}, not a file", str(path))


def read_plain(path: str | Path, most: int = -1) -> bytes:
    """Return the content of a plain file, or its first `most` bytes; OSError if there is none, or it is not plain.

    It is opened in a way that does not wait for the other end of a pipe.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise NotPlainError(path, "a socket, or a device that is missing") from None
        raise
    if not stat.S_ISREG(mode := os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotPlainError(path, KINDS.get(stat.S_IFMT(mode), "something else"))
    with os.fdopen(descriptor, "rb") as file:
        return file.read(most)


def read_plain_text(path: str | Path, encoding: str = "utf-8") -> str:
    """Return the text of a plain file; UnicodeDecodeError if it is not in that encoding."""
    return read_plain(path).decode(encoding)
