"""A file that a user names is read only if reading it ends."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from batchproof.host.plain_files import NotPlainError, read_plain, read_plain_text


def test_a_plain_file_is_read(tmp_path: Path) -> None:
    """All of it, its beginning, or its text."""
    file = tmp_path / "plain"
    file.write_bytes(b"abc\n")

    assert (read_plain(file), read_plain(str(file), 2), read_plain_text(file)) == (b"abc\n", b"ab", "abc\n")


@pytest.mark.parametrize(("kind", "says"), [("pipe", "a pipe"), ("folder", "a folder"), ("socket", "a socket")])
def test_what_may_never_end_is_refused(tmp_path: Path, kind: str, says: str) -> None:
    """Nobody writes into the pipe, and yet nothing waits for that."""
    path = tmp_path / kind
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))

    with pytest.raises(NotPlainError, match=f"it is {says}") as caught:
        read_plain(path)
    assert caught.value.strerror is not None
    assert caught.value.strerror.endswith("not a file")


def test_a_device_is_refused() -> None:
    """/dev/zero has no end."""
    with pytest.raises(NotPlainError, match="it is a device, not a file"):
        read_plain("/dev/zero")


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    """As it is for any other reader."""
    with pytest.raises(FileNotFoundError):
        read_plain(tmp_path / "nothing")
