"""One program that speaks JSON lines: sends messages, matches answers with them, and says what went wrong."""

from __future__ import annotations

import contextlib
import itertools
import json
import select
import socket
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as LateError
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import Any

from batchproof.host.clock import HOST_CLOCK
from batchproof.targets.deadlines import TooLate, more_time, timeout_s
from batchproof.targets.kit.processes import Guarded
from batchproof.targets.protocol import TargetError
from batchproof.targets.stdio import connect
from batchproof.targets.stdio.messages import FROM, TO, definition, wrong

LONGEST = 16 * 2**20  # bytes of a line
VALIDATED = (
    100  # messages of a kind are held against the schema until so many have fitted: more would cost a bench its speed
)
SHOWN = 120
AT_ONCE = ("release", "log", "queued", "cancel")  # nothing in the stack has to happen before these are answered
BLOCKED = "if its loop that reads waits in a call of the stack, such as a full queue, make that call elsewhere; if not, "
WHERE = "standard output is for answers, one JSON object a line: print everything else to standard error"


class Connection:
    """A guarded program. It ends with this process, with everything that it started."""

    def __init__(self, name: str, command: Sequence[str]) -> None:
        self.name = name
        self._folder = TemporaryDirectory(prefix="batchproof-")  # a short name: the path of a socket may have 107 bytes
        path = str(Path(self._folder.name) / "line")
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(path)
        self._listener.listen(1)
        self._socket: socket.socket | None = None
        self._ids, self._fitted = itertools.count(1), Counter[str]()
        self._waiting: dict[int, tuple[str, Future[dict[str, Any]]]] = {}
        self._lock = threading.Lock()
        self._broken = ""
        self._lines: SimpleQueue[bytes | None] = SimpleQueue()
        try:
            argv = [sys.executable, "-S", "-E", connect.__file__, path, *command]
            self.process = Guarded(argv, ready=self._connected, name=name)
        except BaseException:
            self._listener.close()
            self._folder.cleanup()
            raise
        self._listener.close()
        for work in (self._write, self._read):
            threading.Thread(target=work, name=f"batchproof-stdio-{work.__name__}", daemon=True).start()

    def ask(self, do: str, **fields: Any) -> Future[dict[str, Any]]:
        """Send a message, and return a Future of its answer at once. It raises TargetError if there will be none."""
        return self.numbered(do, **fields)[1]

    def numbered(self, do: str, **fields: Any) -> tuple[int, Future[dict[str, Any]]]:
        """Do as `ask` does, and return the message's id too."""
        future: Future[dict[str, Any]] = Future()
        with self._lock:
            number = next(self._ids)
            message = {"do": do, "id": number, **fields}
            if self._watched(f"to {do}") and (why := wrong(message, TO, do)):
                raise ValueError(f"this message does not fit {TO}: {why}")
            self._fitted[f"to {do}"] += 1
            if self._broken:
                future.set_exception(TargetError(self._broken))
                return number, future
            self._waiting[number] = do, future
        self._lines.put(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        return number, future

    def call(self, do: str, limit: str = "CALL_S", **fields: Any) -> dict[str, Any]:
        """Send a message and wait for its answer; TooLate if it takes longer than this limit."""
        future = self.ask(do, **fields)
        seconds = timeout_s(limit)
        try:
            return future.result(seconds)
        except LateError:
            why = f"{self.name} has not answered '{do}' after {seconds:g} s"
            raise TooLate(f"{why}: {BLOCKED if do in AT_ONCE else ''}{more_time(limit)}") from None

    def trouble(self) -> str:
        """Return why it cannot be used any more, or an empty string."""
        return self._broken

    def finish(self) -> None:
        """End the program and everything that it has started."""
        self._break(f"{self.name} was stopped")
        self._lines.put(None)
        with contextlib.suppress(OSError):
            if self._socket is not None:
                self._socket.shutdown(socket.SHUT_RDWR)
        self.process.finish()
        if self._socket is not None:
            self._socket.close()
        self._folder.cleanup()

    def _connected(self) -> bool:
        if select.select([self._listener], [], [], 0)[0]:
            self._socket = self._listener.accept()[0]
        return self._socket is not None

    def _write(self) -> None:
        assert self._socket is not None
        while (line := self._lines.get()) is not None:
            try:
                self._socket.sendall(line)
            except OSError:
                return  # the reader sees the end, and says why

    def _read(self) -> None:
        assert self._socket is not None
        with self._socket.makefile("rb") as lines:
            try:
                while line := lines.readline(LONGEST):
                    self._receive(line)
            except OSError:
                pass
            except TargetError as error:
                self._break(str(error))
                return
        if not self._broken:
            self._break(self._ended() or f"{self.name} has closed its standard output")

    def _ended(self) -> str:
        """Return how the program ended, once that is known: its end is seen a moment after that of its output."""
        HOST_CLOCK.wait(lambda: bool(self.process.ended()), HOST_CLOCK.now_ns() + 1_000_000_000)
        return self.process.ended()

    def _receive(self, line: bytes) -> None:
        """Settle the Future of the message that this line answers; TargetError if it answers none."""
        shown = line[:SHOWN].decode("utf-8", "replace").rstrip()
        if not line.endswith(b"\n") and len(line) >= LONGEST:
            raise TargetError(f"{self.name} wrote a line of more than {LONGEST} bytes, which begins with: {shown}")
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise TargetError(f"{self.name} wrote a line that is not JSON ({error}): {shown}\n{WHERE}") from None
        number = answer.get("id") if isinstance(answer, dict) else None
        with self._lock:
            do, future = self._waiting.pop(number, ("", None)) if type(number) is int else ("", None)
        if future is None:
            raise TargetError(f"{self.name} answered a message that it was not sent, or has already answered: {shown}")
        future.set_running_or_notify_cancel()
        if "error" in answer and not wrong(answer, FROM, "error"):
            future.set_exception(TargetError(f"{self.name}: {answer['error']}"))
        elif self._watched(do) and (why := wrong(answer, FROM, definition(do))):
            future.set_exception(TargetError(f"{self.name}: the answer to '{do}' does not fit {FROM}: {why}"))
        else:
            self._fitted[do] += 1
            future.set_result(answer)

    def _watched(self, kind: str) -> bool:
        return self._fitted[kind] < VALIDATED

    def _break(self, why: str) -> None:
        """Note why it cannot be used any more, and tell everybody who waits."""
        with self._lock:
            self._broken = self._broken or why
            waiting, self._waiting = self._waiting, {}
        for _, future in waiting.values():
            if future.set_running_or_notify_cancel():
                future.set_exception(TargetError(self._broken))
