"""What travels between the crew, Locust's master, its workers and their senders: JSON data, and times as base64.

The crew says what to `do`, and a worker answers with what `is`. Master and worker pass on what is not theirs. On sockets
each message is one line; between master and worker it is the data of one Locust message. Long columns are cut into pieces.

to a worker   ping                    {"t1"}
              due                     {"run", "column"}: a piece of its due times, before `prepare`
              prepare                 {"run", "route", "payload", "first", "numbers", ...}: connect, and say when it is ready
              start                   {"run", "start_ns"}: on the worker's clock
              stop                    {"run"}: forget it
              quit                    {"why", "wrong"}
from a worker hello                   {"name", "version", "protocol", "host", "net"}
              pong                    {"t1", "t2", "t3"}
              ready, failed, done     {"run", ...}
              columns                 {"run", ...}: a piece of its samples, before `done`
              leaves                  {"why"}
"""

from __future__ import annotations

import base64
import binascii
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from batchproof.load.samples import Samples, SamplesError
from batchproof.stats.arrays import Ints

PROTOCOL = 1
DO, IS = "batchproof-do", "batchproof-is"  # the types of our Locust messages
PIECE = 50_000  # requests in one message, of about a megabyte
LONGEST = 1 << 26  # bytes of a line
COLUMNS = {"sent_ns": "<i8", "done_ns": "<i8", "outcome": "|u1"}
Message = dict[str, Any]


class Lines:
    """Messages over a socket, one a line. Any thread may send; an end of the other side ends the iteration."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel, self._lock = channel, threading.Lock()
        self._file = channel.makefile("rb")

    def send(self, message: Mapping[str, Any]) -> None:
        """Send one; OSError if the other side has gone."""
        data = json.dumps(message).encode() + b"\n"
        with self._lock:
            self._channel.sendall(data)

    def __iter__(self) -> Iterator[Message]:
        """Yield what comes, until the other side has gone."""
        while True:
            try:
                line = self._file.readline(LONGEST)
            except OSError:
                return
            if not line.endswith(b"\n"):
                return
            yield json.loads(line)

    def close(self) -> None:
        """Let the other side see that this one has gone."""
        for part in (self._file, self._channel):
            part.close()


def due_pieces(due_ns: Ints) -> Iterator[str]:
    """Yield due times as text."""
    for start in range(0, len(due_ns), PIECE):
        yield packed(due_ns[start : start + PIECE], "<i8")


def sample_pieces(samples: Samples) -> Iterator[dict[str, str]]:
    """Yield what a worker adds to its due times, as text."""
    for start in range(0, samples.count, PIECE):
        yield {name: packed(getattr(samples, name)[start : start + PIECE], kind) for name, kind in COLUMNS.items()}


def samples_of(due_ns: Ints, pieces: list[dict[str, str]]) -> Samples:
    """Return the samples of the requests that were due at these times; SamplesError if the pieces are not theirs."""
    try:
        read = {name: [unpacked(piece[name], kind) for piece in pieces] for name, kind in COLUMNS.items()}
        columns = {name: np.concatenate(arrays) for name, arrays in read.items()}
    except (KeyError, TypeError, ValueError) as error:
        raise SamplesError(f"they cannot be read: {error}") from None
    return Samples(due_ns, client=np.zeros(len(due_ns), dtype=np.int32), **columns)


def packed(array: Any, kind: str) -> str:
    """Return an array as text."""
    return base64.b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode()


def unpacked(text: str, kind: str) -> Any:
    """Return the array of a text; ValueError if it is not one."""
    try:
        return np.frombuffer(base64.b64decode(text, validate=True), dtype=kind).astype(np.dtype(kind).newbyteorder("="))
    except (binascii.Error, TypeError) as error:
        raise ValueError(str(error)) from None
