"""Target `pytriton`: the witness bound with PyTriton's own API, and Triton's dynamic batcher in front of it.

One server, and a model for each configuration. docs/stacks/pytriton.md says what the claims mean.
"""

from __future__ import annotations

import itertools
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from batchproof.reference_batcher import BatcherConfig, QueuePolicy
from batchproof.targets import Payload, Request, Response, TargetError, TargetInfo, Unsupported
from batchproof.targets.deadlines import TooLate, more_time, timeout_s
from batchproof.targets.kit import Folder, Guarded, HttpClient, HttpError, Interpreter, free_ports, listens
from batchproof.targets.kit.processes import tail
from batchproof.targets.triton.embedded import SHM
from batchproof.targets.triton.wire import GrpcWire

SERVER = Path(__file__).with_name("pytriton_server.py")
WARM_UP = 3  # calls
BINDS = 3  # of one model, until it is given up
CLAIMS = {
    "rows": "counted",
    "delay": True,
    "delay_anchor": "oldest-enqueue",
    "queue_timeout": True,
    "instances": True,
    "preferred_sizes": True,
    "ordering": True,
    "priorities": True,
    "max_queue_size": True,
    "timeout_delay": True,
    "timeout_override": True,
    "counts_results": True,
    "defaults": True,
    "default_batch": 4,
    "default_delay_ms": 0,
}


class PyTritonDeployment:
    """A model that is bound. PyTriton cannot unbind one, so it stays until the server ends.

    It has no `statistics`: PyTriton keeps that endpoint of Triton to itself, with a token of its own.
    """

    def __init__(self, wire: GrpcWire, name: str, folder: Folder) -> None:
        self.name, self._wire = name, wire
        self.log, self.release, self.finish, self.cancel = folder.log, folder.release, folder.remove, wire.cancel

    def submit(self, request: Request) -> Future[Response]:
        """Send a request to Triton."""
        return self._wire.infer(self.name, request)

    def queued(self) -> int:
        """Return Triton's gauge of the requests that wait for the model."""
        return self._wire.pending(self.name)

    def close(self) -> None:
        """Nothing closes a model, and so `close` is not claimed."""


class PyTritonTarget:
    """A server that PyTriton starts. python: the interpreter that has PyTriton, if that is not our own."""

    deploys_at_once = 1  # alongside the rule that is judged: PyTriton's `bind` is not for several threads at once

    def __init__(self, python: str = "") -> None:
        interpreter = Interpreter(python, ["nvidia-pytriton"])
        http, grpc, metrics, control = free_ports(4)
        self._http = http
        self._folder, self._control, self._number = Folder(), HttpClient(f"http://127.0.0.1:{control}"), itertools.count(1)
        path = self._folder.path
        environment = interpreter.environment(path, {"TMPDIR": path, "PYTRITON_HOME": path, "OMP_NUM_THREADS": "1"})
        self._server = Guarded(
            interpreter.command(SERVER, http, grpc, metrics, control), cwd=path, env=environment, name="PyTriton",
            ready=lambda: self._control.ok("/"),
        )  # fmt: skip
        self._wire = GrpcWire(f"127.0.0.1:{grpc}", f"127.0.0.1:{metrics}")
        self._wire.keep()
        self.process_group, self.server_log = self._server.process_group, self._server.output
        self.info = TargetInfo("pytriton", interpreter.versions["nvidia-pytriton"], "pytriton", claims=CLAIMS)

    def deploy(self, config: BatcherConfig) -> PyTritonDeployment:
        """Bind a model with this configuration, and warm it up."""
        if config.inputs or config.outputs or config.response_cache:
            raise Unsupported("response_cache" if config.response_cache else "shapes")
        return self._bound(config.max_batch_size, settings(config))

    def deploy_defaults(self) -> PyTritonDeployment:
        """Bind a model with nothing set."""
        return self._bound(1, {})

    def _bound(self, rows: int, asked: dict[str, Any]) -> PyTritonDeployment:
        """Bind a model. rows: of the first calls. With several instances, PyTriton may lose a race, so it is tried again."""
        for attempt in range(1, BINDS + 1):
            name, folder = f"witness_{next(self._number)}", Folder()
            try:
                self._control.post("/bind", {"name": name, "folder": folder.path, **asked}, timeout_s("LOAD_S"))
                break
            except TimeoutError:
                limit = timeout_s("LOAD_S")
                raise TooLate(f"PyTriton has not bound the witness in {limit:g} s: {more_time('LOAD_S')}") from None
            except HttpError as error:
                folder.remove()
                if attempt == BINDS:
                    raise TargetError(f"PyTriton does not bind the witness: {error}") from None
        deployment = PyTritonDeployment(self._wire, name, folder)
        for number in range(1, WARM_UP + 1):
            warm = deployment.submit(Request("warm-up", -number, Payload(rows=rows)))
            warm.exception(timeout_s("WARM_UP_S"))
        deployment.log()
        return deployment

    def alive(self) -> str:
        """Return how the server ended, or an empty string. PyTriton's own process goes on without the tritonserver."""
        ended = "" if listens(self._http) else f"tritonserver has ended, and had printed:\n{tail(self.server_log())}"
        return self._server.ended() or ended

    def close(self) -> None:
        """End the server, and remove the shared memory that PyTriton leaves when it ends (0.7.0 does)."""
        self._wire.close()
        mine = self._server.processes()
        self._server.finish()
        for segment in (one for pid in mine for one in SHM.glob(f"pytrtion{pid}-*")):  # sic
            segment.unlink(missing_ok=True)
        self._folder.remove()


def settings(config: BatcherConfig) -> dict[str, Any]:
    """Return the configuration in PyTriton's words."""
    default = QueuePolicy(
        config.queue_timeout_ns, config.timeout_action, config.allow_timeout_override, config.max_queue_size
    )
    return {
        "instances": config.instances,
        "max_batch_size": config.max_batch_size,
        "max_queue_delay_microseconds": config.max_queue_delay_ns // 1000,
        "preferred_batch_size": list(config.preferred_batch_size) or None,
        "preserve_ordering": config.preserve_ordering,
        "priority_levels": config.priority_levels,
        "default_priority_level": config.default_priority_level,
        "default_policy": policy(default),
        "priority_policies": {str(level): policy(one) for level, one in config.priority_queue_policy},
    }


def policy(one: QueuePolicy) -> dict[str, Any]:
    """Return a queue policy in PyTriton's words."""
    return {
        "timeout_action": one.timeout_action,
        "default_timeout_microseconds": one.queue_timeout_ns // 1000,
        "allow_timeout_override": one.allow_timeout_override,
        "max_queue_size": one.max_queue_size,
    }
