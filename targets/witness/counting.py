"""Counts the requests that wait, exactly and across processes: those that were accepted and are not yet in the model.

This file travels into other processes, as `probe.py` does: numpy, the standard library, and the files next to it.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import struct
import threading
from collections.abc import Iterator
from typing import Any

from .probe import Ints

FOLDER = "BATCHPROOF_WITNESS"  # the variable that names the witnesses' folder to the processes of a server
COUNTS = "counts"
KEPT = 100_000  # requests that left before their acceptance was read, at most


def witness_folder(folder: str | os.PathLike[str] | None = None) -> str:
    """Return the folder, or the one that the environment names; KeyError if it names none."""
    return os.fspath(folder) if folder is not None else os.environ[FOLDER]


class Counted:
    """Counts requests for a witness, in all processes that share its folder.

    witness: a `Witness` or `Witnesses`, for the process that runs the model; its folder, for a process that only accepts
    requests or asks how many wait; None for the folder that the environment names.

    A request waits from `accepted` (or the beginning of `waiting`) until it enters the model through one of the methods
    `execute...`, or until `left` (or the end of `waiting`). Each is one small append to a file in `FOLDER/counts`.
    """

    def __init__(self, witness: Any = None) -> None:
        self.witness = witness
        self.folder = witness_folder(getattr(witness, "folder", witness))
        self._counts = os.path.join(self.folder, COUNTS)
        os.makedirs(self._counts, mode=0o700, exist_ok=True)
        self._lock = threading.Lock()
        self._file, self._owner = -1, 0
        self._cursors: dict[str, int] = {}
        self._waiting: set[int] = set()
        self._gone: dict[int, None] = {}

    def accepted(self, serial: int) -> None:
        """Count a request (by its serial, the first number of its tensor) that is in the stack's queue from now on."""
        self._note([serial], 0)

    def left(self, *serials: int) -> None:
        """Count these requests no longer. It does no harm to say this again."""
        self._note(serials, 1)

    @contextlib.contextmanager
    def waiting(self, tensor: Any) -> Iterator[None]:
        """Count a request from now until it enters the model, or the block ends: for the handler that answers it.

        tensor: of the request, an array or nested lists. In a handler on an event loop this is exact if the stack queues
        the request before it waits for the first time.
        """
        serial = int(tensor[0][0])
        self.accepted(serial)
        try:
            yield
        finally:
            self.left(serial)

    def track(self, serial: int, future: Any) -> Any:
        """Count a request that the stack has just queued until this Future of its answer is settled; return the Future."""
        self.accepted(serial)
        future.add_done_callback(lambda _: self.left(serial))
        return future

    def execute(self, tensors: list[Ints], *more: Any) -> Any:
        """`Witness.execute` for requests that wait no longer."""
        self.left(*(int(tensor[0][0]) for tensor in tensors))
        return self.witness.execute(tensors, *more)

    async def execute_async(self, tensors: list[Ints], *more: Any) -> Any:
        """`Witness.execute_async` for requests that wait no longer."""
        self.left(*(int(tensor[0][0]) for tensor in tensors))
        return await self.witness.execute_async(tensors, *more)

    def execute_rows(self, merged: Any, *more: Any) -> Any:
        """`Witnesses.execute_rows` for requests that wait no longer."""
        self.left(*{int(row[0]) for row in merged})
        return self.witness.execute_rows(merged, *more)

    async def execute_rows_async(self, merged: Any, *more: Any) -> Any:
        """`Witnesses.execute_rows_async` for requests that wait no longer."""
        self.left(*{int(row[0]) for row in merged})
        return await self.witness.execute_rows_async(merged, *more)

    def queued(self) -> int:
        """Return how many requests wait: accepted, and neither in the model nor gone."""
        with self._lock:
            for name in sorted(os.listdir(self._counts)):
                self._read(name)
            while len(self._gone) > KEPT:
                del self._gone[next(iter(self._gone))]
            return len(self._waiting)

    def close(self) -> None:
        """Close the file of this process."""
        with self._lock:
            if self._file >= 0:
                os.close(self._file)
            self._file = -1

    def _note(self, serials: Any, gone: int) -> None:
        with self._lock:
            if self._file < 0 or self._owner != os.getpid():  # a fork has a file of its own
                path = os.path.join(self._counts, f"{os.getpid()}-{secrets.token_hex(4)}")
                try:
                    self._file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o600)
                except FileNotFoundError:  # the deployment is finished, and nobody asks any more
                    return
                self._owner = os.getpid()
            os.write(self._file, struct.pack(f"<{len(serials)}q", *(2 * serial + gone for serial in serials)))

    def _read(self, name: str) -> None:
        with open(os.path.join(self._counts, name), "rb") as file:
            file.seek(self._cursors.get(name, 0))
            data = file.read()
        data = data[: len(data) // 8 * 8]
        self._cursors[name] = self._cursors.get(name, 0) + len(data)
        for note in struct.unpack(f"<{len(data) // 8}q", data):
            serial = note >> 1
            if note & 1:
                if serial in self._waiting:
                    self._waiting.remove(serial)
                self._gone[serial] = None
            elif serial not in self._gone:
                self._waiting.add(serial)
