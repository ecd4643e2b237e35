"""Target `litserve`: the witness behind a LitServe server of its own, called over HTTP as by any client.

The server is a process group that ends with this process, even by SIGKILL: its first process reads a pipe that only this
process holds open, and takes the group with it when the pipe ends. docs/litserve.md says what the claims mean.
"""

import json
import os
import signal
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from socket import create_server
from subprocess import DEVNULL, PIPE, Popen
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any
from urllib import request as http

import numpy as np
from litserve import LitAPI, LitServer, __version__
from litserve.loops import BatchedLoop

from batchproof.host.clock import HostClock
from batchproof.reference_batcher import BatcherConfig
from batchproof.targets import Kind, Request, Response, TargetError, TargetInfo, Witness, read_log, relay, release

OPEN = http.build_opener(http.ProxyHandler({})).open  # past any proxy that the environment names


class WitnessAPI(LitAPI):  # type: ignore[misc]
    """The witness: each worker has one of its own, with its own log. Payloads and answers are JSON lists."""

    def setup(self, device: str) -> None:  # noqa: ARG002 - LitServe's signature
        """Open the log, in the folder where the server was started."""
        self.witness = Witness(Path.cwd(), int(os.environ["LITSERVE_WORKER_ID"]))

    def predict(self, x: list[Any]) -> list[Any]:
        """Run one batch: a list of payloads, one for each request -> a list of [echo, info]."""
        return [[part.tolist() for part in answer] for answer in self.witness.execute([np.array(rows) for rows in x])]


def serve(port: int, config: BatcherConfig) -> None:
    """Be the server process. `/queued` is the length of LitServe's own queue between its HTTP side and its workers."""
    Thread(target=lambda: os.read(0, 1) or os.killpg(0, signal.SIGKILL), daemon=True).start()  # type: ignore[func-returns-value]
    api = WitnessAPI(config.max_batch_size, config.max_queue_delay_ns / 1e9, loop=BatchedLoop())
    server = LitServer(api, "cpu", workers_per_device=config.instances, timeout=config.queue_timeout_ns / 1e9 or False)
    server.app.get("/queued")(lambda: server.litapi_request_queues["/predict"].qsize())  # noqa: PLW0108 - run() makes it
    server.run("127.0.0.1", port, num_api_servers=1, log_level="error", generate_client_file=False)


def kind_of(error: BaseException) -> Kind:
    """Classify an error by its HTTP status, if it has one."""
    return {0: Kind.LOST, 500: Kind.FAILED, 504: Kind.EXPIRED}.get(getattr(error, "code", 0), Kind.OTHER)


class LitServeDeployment:
    """One server. `queued()` leaves out what a worker has taken to form a batch; `close()` acts like Ctrl+C."""

    def __init__(self, config: BatcherConfig) -> None:
        exits, clock, self._pool, self._cursors = ExitStack(), HostClock(), ThreadPoolExecutor(64), dict[str, int]()
        self._folder = exits.enter_context(TemporaryDirectory(prefix="batchproof-"))
        with create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        call = [sys.executable, "-c", f"from {__name__} import BatcherConfig, serve; serve({self._port}, {config})"]
        child = exits.push(Popen(call, cwd=self._folder, stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True))
        self.release, self.queued = partial(release, self._folder), lambda: int(self._ask("/queued"))
        self.close, self.finish, self.process_group = partial(child.send_signal, signal.SIGINT), exits.close, child.pid
        if not clock.wait(lambda: not self._pool.submit(self._ask, "/health").exception(), clock.now_ns() + 60 * 10**9):
            raise TargetError("LitServe was not ready after 60 s")

    def _ask(self, path: str, body: bytes | None = None) -> bytes:
        with OPEN(http.Request(f"http://127.0.0.1:{self._port}{path}", body, {"Content-Type": "application/json"})) as reply:
            return bytes(reply.read())

    def _infer(self, request: Request) -> Response:
        return Response(*map(np.array, json.loads(self._ask("/predict", json.dumps(request.tensor().tolist()).encode()))))

    def submit(self, request: Request) -> Future[Response]:
        """POST it, along with up to 63 others."""
        return relay(self._pool.submit(self._infer, request), lambda answer: answer, kind_of)

    def log(self) -> list[dict[str, Any]]:
        """Return the new lines of the witnesses' logs."""
        lines, self._cursors = read_log(self._folder, self._cursors)
        return lines


class LitServeTarget:
    """The installed LitServe, with a server for each configuration."""

    info = TargetInfo("litserve", __version__, "litserve", claims={"delay": True, "delay_anchor": "loop-entry",
                      "queue_timeout": True, "instances": True, "close": True, "side_by_side": False})
    deploy = LitServeDeployment
