"""HTTP connections whose answers end: each answer has so many bytes at most, and is complete within a time.

`http.client` limits only the silence between two packets. A server that sends one byte a second, or a body without an end,
would be listened to for ever.
"""

from __future__ import annotations

import http.client
import io
import socket
import ssl
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

LARGEST = 256 * 2**20  # bytes of an answer, its headers included: the log of a long run has tens of millions
NEVER = float("inf")


class Endless(TimeoutError):
    """An answer was not complete in time, or is larger than any that is meant."""


class Allowance:
    """What is left of the time and of the bytes of one answer. seconds: None: as long as it takes."""

    def __init__(self, seconds: float | None, largest: int = LARGEST) -> None:
        self._seconds, self._largest = seconds, largest
        self._until_s, self._left = NEVER if seconds is None else time.monotonic() + seconds, largest

    def left_s(self) -> float | None:
        """Return the time that is left, or None where there is no limit; Endless if it is over."""
        left_s = self._until_s - time.monotonic()
        if left_s <= 0:
            raise self.late()
        return None if left_s == NEVER else left_s

    def take(self, count: int) -> None:
        """Note so many more bytes; Endless if they are too many."""
        self._left -= count
        if self._left < 0:
            raise Endless(f"the answer has more than {self._largest // 2**20} MiB")

    def late(self) -> Endless:
        """Return what says that the time is over."""
        return Endless(f"the answer was not complete after {self._seconds:g} s")


class _Answer(io.RawIOBase):
    """The bytes of one answer, read from a socket."""

    def __init__(self, line: socket.socket, allowance: Allowance) -> None:
        self._line, self._allowance = line, allowance
        self._bytes: Any = line.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        try:
            self._line.settimeout(self._allowance.left_s())
            count: int = self._bytes.readinto(buffer)
            self._allowance.take(count)
        except Endless:
            self._bytes.close()  # nobody reads on, and not everybody closes an answer that has raised
            raise
        except TimeoutError:
            self._bytes.close()
            raise self._allowance.late() from None
        return count

    def close(self) -> None:
        self._bytes.close()
        super().close()


class _Line:
    """A connected socket, as `http.client` uses it; each answer that is read from it has an allowance of its own."""

    def __init__(self, line: socket.socket, seconds: float | None, largest: int) -> None:
        self._line, self._seconds, self._largest = line, seconds, largest

    def makefile(self, *_: Any, **__: Any) -> io.BufferedReader:
        return io.BufferedReader(_Answer(self._line, Allowance(self._seconds, self._largest)))

    def sendall(self, data: Any) -> None:
        self._line.settimeout(self._seconds)  # the last answer has left it with what remained
        self._line.sendall(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._line, name)


class BoundedConnection(http.client.HTTPConnection):
    """A connection to `host:port`. seconds: for connecting, and for each whole answer; None: as long as it takes."""

    def __init__(self, host: str, port: int | None = None, *, seconds: float | None, largest: int = LARGEST) -> None:
        super().__init__(host, port, timeout=seconds)
        self._seconds, self._largest = seconds, largest

    def connect(self) -> None:
        super().connect()
        self.sock: Any = _Line(self.sock, self._seconds, self._largest)


class BoundedSecureConnection(http.client.HTTPSConnection):
    """The same with TLS."""

    def __init__(self, host: str, port: int | None = None, *, seconds: float | None, largest: int = LARGEST) -> None:
        super().__init__(host, port, timeout=seconds, context=ssl.create_default_context())
        self._seconds, self._largest = seconds, largest

    def connect(self) -> None:
        super().connect()
        self.sock: Any = _Line(self.sock, self._seconds, self._largest)
