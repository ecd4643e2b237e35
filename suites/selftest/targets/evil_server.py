"""A server whose answers do not end, or are nothing that a client expects."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
PAUSE_S = 0.05  # between two bytes
WAYS = (
    "drips its status", "drips its headers", "drips its body", "sends without an end", "sends endless headers",
    "says nothing",
)  # fmt: skip


class EvilServer:
    """Listens on a free port; each connection is answered in this way once a request has come. asked: how many came."""

    def __init__(self, way: str) -> None:
        self.way, self.asked, self.over = way, 0, threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.address, self.url = f"127.0.0.1:{self.port}", f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._listen, daemon=True).start()

    def __enter__(self) -> EvilServer:  # noqa: PYI034 - there is no Self in Python 3.10
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self._listener.close()

    def _listen(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=(self._listener.accept()[0],), daemon=True).start()

    def _serve(self, line: socket.socket) -> None:
        with line, contextlib.suppress(OSError):
            while line.recv(65536):
                self.asked += 1
                for part in self._parts():
                    line.sendall(part)

    def _parts(self) -> Iterator[bytes]:
        match self.way:
            case "drips its status":
                yield from self._drips(b"", b"H")
            case "drips its headers":
                yield from self._drips(HEAD + b"X: ", b"y")
            case "drips its body":
                yield from self._drips(HEAD + b"Content-Length: 1000000\r\n\r\n", b" ")
            case "sends without an end":
                yield HEAD + b"\r\n"
                while not self.over.is_set():
                    yield b" " * 65536
            case "sends endless headers":
                yield HEAD
                while not self.over.is_set():
                    yield b"X: y\r\n" * 1000
            case "says nothing":
                self.over.wait()
            case "answers":
                yield HEAD + b"Content-Length: 2\r\n\r\n{}"

    def _drips(self, first: bytes, byte: bytes) -> Iterator[bytes]:
        yield first
        while not self.over.wait(PAUSE_S):
            yield byte
