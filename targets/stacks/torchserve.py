"""Target `torchserve`: the witness behind a TorchServe of its own, called over HTTP. docs/stacks/torchserve.md has more."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from urllib import request as http

import numpy as np

from batchproof.reference_batcher import BatcherConfig
from batchproof.targets import Kind, Request, Response, TargetError, TargetInfo, Unsupported, read_log, relay
from batchproof.targets.deadlines import timeout_s
from batchproof.targets.kit import HttpClient, Interpreter, Server, free_ports, http_kind, http_status

SERVER = Path(__file__).with_name("torchserve_server.py")
OPEN = http.build_opener(http.ProxyHandler({})).open  # past any proxy that the environment names
A_DAY_S = 24 * 3600
QUEUE = 10_000
KINDS = {404: Kind.CLOSED, 500: Kind.FAILED, 503: Kind.FULL}
OF_THE_MODEL = ("Prediction failed", "number of batch response mismatched")
CLOSE_S = 30.0
CLAIMS = {
    "delay": True,
    "delay_anchor": "first-dequeue",
    "max_queue_size": True,
    "instances": True,
    "close": True,
    "counts_results": True,
}
HOW = (
    "install Java 17, then python3.11 -m venv env; env/bin/pip install torchserve torch pyyaml 'numpy<2'; "
    "then name it: --target 'torchserve?python=env/bin/python'"
)


class Waiting:
    """Counts who waits: the requests that TorchServe has counted, less those in the witnesses' logs and those refused."""

    def __init__(self, metrics: str, folder: str) -> None:
        self._metrics, self._folder = metrics, folder
        self._cursors: dict[str, int] = {}
        self._entered = self.refused = 0

    def settled(self, answer: Future[Response]) -> None:
        """Count a request no longer that was refused because the queue is full."""
        if not answer.cancelled() and getattr(answer.exception(), "kind", None) is Kind.FULL:
            self.refused += 1

    def __call__(self) -> int:
        """Return how many requests wait."""
        lines, self._cursors = read_log(self._folder, self._cursors)
        self._entered += sum(len(line.get("serials", ())) for line in lines)
        with OPEN(self._metrics) as reply:
            text = reply.read().decode()
        counted = [line.split()[-1] for line in text.splitlines() if line.startswith("ts_inference_requests_total{")]
        return max(0, sum(int(float(value)) for value in counted) - self._entered - self.refused)


def kind_of(error: BaseException) -> Kind:
    """Classify an error: 503 is a model that raised or returned too few results, or a queue without room."""
    return Kind.FAILED if any(words in str(error) for words in OF_THE_MODEL) else http_kind(error, KINDS)


class Registered(Server):
    """A server whose model is registered, and removed, through the management API. manager: that API's address."""

    manager = ""

    def close(self) -> None:
        """Unregister the model; TorchServe answers when it is gone."""
        with suppress(OSError):  # a server that was ended meanwhile
            OPEN(http.Request(f"{self.manager}/models/witness", method="DELETE"), timeout=CLOSE_S).close()  # noqa: S310 - our own


class TorchServeTarget:
    """TorchServe, with a server for each configuration. python: the interpreter that has it."""

    deploys_at_once = 2

    def __init__(self, python: str = "") -> None:
        self._python = Interpreter(python, ["torchserve", "torch", "PyYAML"], HOW)
        if not shutil.which("java"):
            raise TargetError(f"there is no program 'java' on the path: {HOW}")
        self.info = TargetInfo("torchserve", self._python.versions["torchserve"], "torchserve", claims=CLAIMS)

    def deploy(self, config: BatcherConfig) -> Registered:
        """Start a server and register the witness. Its delay is whole milliseconds."""
        if config.queue_timeout_ns:
            raise Unsupported("queue_timeout")
        inference, management, metrics, *grpc = free_ports(5)
        client, manager = HttpClient(f"http://127.0.0.1:{inference}"), HttpClient(f"http://127.0.0.1:{management}")
        asked = {
            "inference_address": client.base, "management_address": manager.base,
            "metrics_address": f"http://127.0.0.1:{metrics}",
            "grpc_inference_port": grpc[0], "grpc_management_port": grpc[1],
            "metrics_mode": "prometheus", "disable_system_metrics": "true", "job_queue_size": config.max_queue_size or QUEUE,
        }  # fmt: skip

        def submit(request: Request) -> Future[Response]:
            call = client.submit("/predictions/witness", request.tensor())
            answer = relay(call, lambda value: Response(*map(np.array, value)), kind_of, http_status)
            answer.add_done_callback(waiting.settled)
            return answer

        deployed = Registered(
            self._python, SERVER, json.dumps(asked), submit=submit, ready=lambda: client.ok("/ping"), name="TorchServe"
        )
        deployed.queued = waiting = Waiting(f"{asked['metrics_address']}/metrics", deployed._folder.path)  # noqa: SLF001
        deployed.manager = manager.base
        model = {
            "url": "witness", "batch_size": config.max_batch_size, "max_batch_delay": config.max_queue_delay_ns // 1_000_000,
            "initial_workers": config.instances, "synchronous": True, "response_timeout": A_DAY_S,
        }  # fmt: skip
        try:
            manager.post("/models", model, timeout_s("READY_S"))
        except BaseException as error:
            printed = deployed.processes.output()[-1000:]
            deployed.finish()
            raise TargetError(f"TorchServe does not load the witness: {error}; it has printed:\n{printed}") from error
        return deployed
