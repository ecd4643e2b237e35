"""An HTTP server in a process of its own: POST /infer takes one request as JSON, and a `ConditionBatcher` serves it.

    python -m batchproof.suites.selftest.strangers.server PORT FOLDER 'JSON of the settings'

`Service` is right. Each class after it is wrong in one way, which its docstring says.
"""

import itertools
import json
import select
import socket
import sys
import threading
import time
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as NotYet
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from batchproof.suites.selftest.strangers.condition import ConditionBatcher
from batchproof.suites.selftest.strangers.errors import QueueFull, Stopped, TooLarge, TooLate
from batchproof.targets.witness.probe import Witness

POLL_S = 0.002
STATUS = {TooLarge: 400, QueueFull: 429, TooLate: 504, Stopped: 503}


class Service:
    """Answers one POST at a time for each connection; a client that goes away cancels its request."""

    def __init__(self, folder: str, settings: dict[str, Any]) -> None:
        models = [Witness(folder, number).execute for number in range(settings["instances"])]
        self.batcher = ConditionBatcher(models, settings["max_rows"], settings["delay_s"], settings["timeout_s"],
                                        settings["max_waiting"])

    def infer(self, body: Any, connection: socket.socket) -> tuple[int, Any]:
        future = self.batcher.submit(np.array(body, dtype=np.int64))
        try:
            echo, info = self.wait(future, connection)
        except Exception as error:  # noqa: BLE001
            return STATUS.get(type(error), 500), f"{type(error).__name__}: {error}"
        return 200, [echo.tolist(), info.tolist()]

    def wait(self, future: Future[Any], connection: socket.socket) -> Any:
        while True:
            try:
                return future.result(timeout=POLL_S)
            except NotYet:
                if future.done():
                    return future.result()
                if gone(connection):
                    self.left(future)
            except CancelledError:
                raise Stopped("the client has gone away") from None

    def left(self, future: Future[Any]) -> None:
        """Deal with a request whose client has gone away."""
        self.batcher.cancel(future)

    def queued(self) -> int:
        return self.batcher.queued()


def gone(connection: socket.socket) -> bool:
    """Whether the other side has closed the connection."""
    readable, _, _ = select.select([connection], [], [], 0)
    return bool(readable) and not connection.recv(1, socket.MSG_PEEK)


class DisconnectIgnored(Service):
    """A request whose client has gone away is executed all the same, and takes the place of others."""

    def left(self, future: Future[Any]) -> None:
        return


class BusyWhenBurst(Service):
    """It answers "Service Busy" to a burst, although no limit is configured."""

    INSIDE = 8

    def __init__(self, folder: str, settings: dict[str, Any]) -> None:
        super().__init__(folder, settings)
        self.slots = threading.Semaphore(self.INSIDE)

    def infer(self, body: Any, connection: socket.socket) -> tuple[int, Any]:
        if not self.slots.acquire(blocking=False):
            return 503, "Service Busy"
        try:
            return super().infer(body, connection)
        finally:
            self.slots.release()


class FuturesKept(Service):
    """A request is noted in a map, and taken out of it when it succeeds: each one that fails stays there with all it has."""

    def __init__(self, folder: str, settings: dict[str, Any]) -> None:
        super().__init__(folder, settings)
        self.numbers = itertools.count()
        self.pending: dict[int, Any] = {}

    def infer(self, body: Any, connection: socket.socket) -> tuple[int, Any]:
        number = next(self.numbers)
        self.pending[number] = body
        status, answer = super().infer(body, connection)
        if status == 200:
            del self.pending[number]
        return status, answer


class TimeoutWhileRunning(Service):
    """The queue timeout also ends requests that are in the model already, and their results are thrown away."""

    def __init__(self, folder: str, settings: dict[str, Any]) -> None:
        self.timeout_s = settings["timeout_s"]
        super().__init__(folder, settings)

    def wait(self, future: Future[Any], connection: socket.socket) -> Any:
        if not self.timeout_s:
            return super().wait(future, connection)
        until = time.monotonic() + self.timeout_s
        while time.monotonic() < until:
            try:
                return future.result(timeout=POLL_S)
            except NotYet:
                if future.done():
                    return future.result()
        self.batcher.cancel(future)
        raise TooLate(f"no answer after {self.timeout_s} s")


def handler(service: Service) -> type[BaseHTTPRequestHandler]:
    """Return the handler of a service's connections."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.reply(*service.infer(body, self.connection))

        def do_GET(self) -> None:
            self.reply(200, service.queued())

        def reply(self, status: int, body: Any) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def handle(self) -> None:
            try:
                super().handle()
            except (BrokenPipeError, ConnectionResetError):
                return

        def log_message(self, *_: Any) -> None:
            return

    return Handler


def main() -> None:
    """Serve until the process is ended."""
    port, folder, settings = int(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
    service = globals()[settings["service"]](folder, settings)
    ThreadingHTTPServer.request_queue_size = 128
    ThreadingHTTPServer(("127.0.0.1", port), handler(service)).serve_forever()


if __name__ == "__main__":
    main()
