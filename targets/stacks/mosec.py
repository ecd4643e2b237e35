"""Target `mosec`: the witness behind a mosec server of its own, called over HTTP. docs/stacks/mosec.md has more."""

from __future__ import annotations

from concurrent.futures import Future
from functools import partial
from pathlib import Path
from urllib import request as http

from batchproof.reference_batcher import BatcherConfig
from batchproof.targets import Request, Response, TargetInfo, read_log
from batchproof.targets.kit import HttpClient, Interpreter, Server, free_port

SERVER = Path(__file__).with_name("mosec_server.py")
OPEN = http.build_opener(http.ProxyHandler({})).open  # past any proxy that the environment names
CAPACITY, TIMEOUT_MS = 1024, 24 * 3600 * 1000
CLAIMS = {
    "delay": True,
    "delay_anchor": "first-dequeue",
    "smallest_delay_ms": 1,
    "zero_delay": "default",
    "queue_timeout": True,
    "timeout_covers": "request",
    "max_queue_size": True,
    "instances": True,
    "close": True,
    "counts_results": True,
    "defaults": True,
    "default_batch": 1,
    "default_delay_ms": 10,
}
HOW = "python3 -m venv env; env/bin/pip install mosec numpy; then name it: --target 'mosec?python=env/bin/python'"


class Waiting:
    """Counts who waits: the tasks that mosec says remain, less those that the witnesses' logs say are in the model.

    A task that is refused while it is in the model no longer remains, so it is not taken off twice.
    """

    def __init__(self, port: int, folder: str, settled: set[int]) -> None:
        self._metrics, self._folder = f"http://127.0.0.1:{port}/metrics", folder
        self._cursors: dict[str, int] = {}
        self._inside: dict[tuple[object, object], set[int]] = {}
        self._settled = settled

    def __call__(self) -> int:
        """Return how many requests wait."""
        lines, self._cursors = read_log(self._folder, self._cursors)
        for line in lines:
            batch = line["instance"], line["batch"]
            if "serials" in line:
                self._inside[batch] = set(line["serials"])
            else:
                self._inside.pop(batch, None)
        with OPEN(self._metrics) as reply:
            gauges = [one.split() for one in reply.read().decode().splitlines() if "remaining_task" in one and one[0] != "#"]
        inside = set().union(*self._inside.values()) - self._settled
        return max(0, sum(int(float(value)) for _, value in gauges) - len(inside))


class MosecTarget:
    """mosec, with a server for each configuration. python: the interpreter that has it."""

    deploys_at_once = 2

    def __init__(self, python: str = "") -> None:
        self._python = Interpreter(python, ["mosec"], HOW)
        self.info = TargetInfo("mosec", self._python.versions["mosec"], "mosec", claims=CLAIMS)

    def deploy(self, config: BatcherConfig) -> Server:
        """Start a server. Its delay is whole milliseconds, and 0 is its default of 10 ms."""
        return self._started(
            config.max_batch_size, config.max_queue_delay_ns // 1_000_000, config.instances, LOG_LEVEL="error",
            CAPACITY=config.max_queue_size or CAPACITY, TIMEOUT=config.queue_timeout_ns // 1_000_000 or TIMEOUT_MS,
        )  # fmt: skip

    def deploy_defaults(self) -> Server:
        """Start a server with nothing set but its address."""
        return self._started()

    def _started(self, *asked: int, **variables: object) -> Server:
        port, settled = free_port(), set[int]()
        client = HttpClient(f"http://127.0.0.1:{port}")

        def submit(request: Request) -> Future[Response]:
            answer = client.infer("/inference", request)
            answer.add_done_callback(lambda _: settled.add(request.serial))
            return answer

        variables |= {"ADDRESS": "127.0.0.1", "PORT": port}
        deployed = Server(
            self._python, SERVER, *asked,
            submit=submit, ready=partial(client.ok, "/metrics"), name="mosec",
            env={f"MOSEC_{name}": str(value) for name, value in variables.items()},
        )  # fmt: skip
        deployed.queued = Waiting(port, deployed._folder.path, settled)  # noqa: SLF001 - the logs tell who is in the model
        return deployed
