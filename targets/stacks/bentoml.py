"""Target `bentoml`: the witness behind a BentoML service of its own, called over HTTP. docs/stacks/bentoml.md has more."""

import json
from concurrent.futures import Future
from pathlib import Path

from batchproof.reference_batcher import BatcherConfig
from batchproof.targets import Request, Response, TargetInfo, Unsupported
from batchproof.targets.kit import HttpClient, Interpreter, Server, free_port
from batchproof.targets.witness.probe import COLUMNS

SERVER = Path(__file__).with_name("bentoml_server.py")
HOW = (
    "python3 -m venv bentoml-env && bentoml-env/bin/pip install bentoml, "
    "then --target 'bentoml?python=bentoml-env/bin/python'"
)
SMALLEST_BATCH = 2
CLAIMS = {
    "delay_anchor": "adaptive",
    "smallest_delay_ms": 1,
    "rows": "split",
    "smallest_batch": SMALLEST_BATCH,
    "queue": "each-instance",
    "queue_timeout": True,
    "timeout_covers": "request",
    "instances": True,
    "close": True,
    "defaults": True,
    "default_batch": 100,
}
AN_HOUR_S = 3600.0


def split(rows: list[list[int]]) -> tuple[list[list[int]], list[list[int]]]:
    """Return the echo and the info in an answer."""
    return [row[: len(COLUMNS)] for row in rows], [row[len(COLUMNS) :] for row in rows]


class BentoMLTarget:
    """BentoML, with a server for each configuration. python: the interpreter that has it."""

    deploys_at_once = 2

    def __init__(self, python: str = "") -> None:
        self._python = Interpreter(python, ["bentoml"], HOW)
        self.info = TargetInfo("bentoml", self._python.versions["bentoml"], "bentoml", claims=CLAIMS)

    def deploy(self, config: BatcherConfig) -> Server:
        """Start a server. The latency that it may have is an hour, so that it refuses nothing while the witness is held."""
        if config.max_batch_size < SMALLEST_BATCH:
            raise Unsupported("smallest_batch")
        timeout = {"timeout": config.queue_timeout_ns / 1e9 or AN_HOUR_S}
        batch = {"max_batch_size": config.max_batch_size, "max_latency_ms": int(AN_HOUR_S * 1000)}
        return self._started({"service": {"workers": config.instances, "traffic": timeout}, "batch": batch})

    def deploy_defaults(self) -> Server:
        """Start a server with nothing set but its port, and that its API is batchable."""
        return self._started({})

    def _started(self, asked: dict[str, object]) -> Server:
        port = free_port()
        client = HttpClient(f"http://127.0.0.1:{port}")

        def submit(request: Request) -> Future[Response]:
            return client.infer("/infer", request, lambda rows: {"rows": rows}, split)

        return Server(
            self._python, SERVER, port, json.dumps(asked), name="BentoML", submit=submit, ready=lambda: client.ok("/readyz"),
            checks_shapes=True,
        )  # fmt: skip
