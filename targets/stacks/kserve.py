"""Target `kserve`: the witness behind KServe's Python model server, which forms no batches. docs/stacks/kserve.md has more.

It is a control: it promises nothing about batches, so it must fail nothing about them.
"""

import json
import signal
from concurrent.futures import Future
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import numpy as np

from batchproof.reference_batcher import BatcherConfig
from batchproof.targets import Request, Response, TargetInfo, relay
from batchproof.targets.kit import (
    Counted,
    Folder,
    Guarded,
    HttpError,
    Interpreter,
    Pool,
    V2Http,
    free_port,
    http_kind,
    malformed,
)

SERVER = Path(__file__).with_name("kserve_server.py")
HOW = "python3 -m venv kserve-env && kserve-env/bin/pip install kserve, then --target 'kserve?python=kserve-env/bin/python'"
CLAIMS = {
    "batches_without_delay": False,
    "late_binding": False,
    "rows": "requests",
    "close": True,
    "defaults": True,
    "default_batch": 1,
    "default_delay_ms": 0,
}


class KServeDeployment:
    """One server. A request is queued once it is in the server's socket: a running model blocks all of it."""

    def __init__(self, python: Interpreter, *instances: int) -> None:
        folder, self._port, self._pool = Folder(), free_port(), Pool(256)
        self.log, self.release, self.queued, self._remove = folder.log, folder.release, folder.queued, folder.remove
        self._sent, ready = Counted(folder.path), V2Http(f"http://127.0.0.1:{self._port}").ready
        self._server = Guarded(
            python.command(SERVER, self._port, *instances), name="KServe", grace_s=0, cwd=folder.path,
            env=python.environment(folder.path), ready=lambda: ready("witness"),
        )  # fmt: skip
        self.process_group, self.close = self._server.process_group, partial(self._server.send_signal, signal.SIGINT)

    def submit(self, request: Request) -> Future[Response]:
        """Send it before this returns, so that requests are in the server's sockets in the order in which they were sent."""
        connection, tensor = HTTPConnection("127.0.0.1", self._port), request.tensor()
        given = {"name": "IN", "shape": list(tensor.shape), "datatype": "INT64", "data": tensor.ravel().tolist()}
        headers = {"Content-Type": "application/json", "Connection": "close"}
        connection.request("POST", "/v2/models/witness/infer", json.dumps({"inputs": [given]}), headers)
        call = self._sent.track(request.serial, self._pool.submit(answer, connection))
        return relay(call, lambda parts: Response(*parts), http_kind)

    def submit_malformed(self) -> Future[Response]:
        """Send a request with too few columns."""
        return self.submit(malformed())

    def finish(self) -> None:
        """Kill the server, and remove its files."""
        self._server.finish()
        self._pool.close()
        self._remove()


def answer(connection: HTTPConnection) -> list[Any]:
    """Return the outputs in an answer, echo and info; HttpError if it is an error."""
    with connection.getresponse() as reply:
        text = reply.read().decode()
    if reply.status != 200:
        raise HttpError(reply.status, text)
    return [np.array(output["data"]).reshape(output["shape"]) for output in json.loads(text)["outputs"]]


class KServeTarget:
    """KServe's Python server, one for each configuration. python: the interpreter that has it."""

    deploys_at_once = 2

    def __init__(self, python: str = "") -> None:
        self._python = Interpreter(python, ["kserve"], HOW)
        self.info = TargetInfo("kserve", self._python.versions["kserve"], "kserve", claims=CLAIMS)

    def deploy(self, config: BatcherConfig) -> KServeDeployment:
        """Start a server. It has no limit on batches and no delay that could be set."""
        return KServeDeployment(self._python, config.instances)

    def deploy_defaults(self) -> KServeDeployment:
        """Start a server with nothing set but its port."""
        return KServeDeployment(self._python)
