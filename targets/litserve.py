"""Target `litserve`: the witness behind a LitServe server of its own, called over HTTP as by any client.

docs/stacks/litserve.md says what the claims mean.
"""

from functools import partial
from pathlib import Path

from batchproof.reference_batcher import BatcherConfig
from batchproof.targets import TargetInfo
from batchproof.targets.kit import HttpClient, Interpreter, Server, free_port

SERVER = Path(__file__).with_name("litserve_server.py")
CLAIMS = {
    "delay": True,
    "delay_anchor": "loop-entry",
    "queue_timeout": True,
    "instances": True,
    "close": True,
    "counts_results": True,
    "side_by_side": False,
    "defaults": True,
    "default_batch": 1,
    "default_delay_ms": 0,
}


class LitServeTarget:
    """LitServe, with a server for each configuration. python: the interpreter that has it, if that is not our own."""

    def __init__(self, python: str = "") -> None:
        self._python = Interpreter(python, ["litserve"])
        self.info = TargetInfo("litserve", self._python.versions["litserve"], "litserve", claims=CLAIMS)

    def deploy(self, config: BatcherConfig) -> Server:
        """Start a server."""
        delay_s, timeout_s = config.max_queue_delay_ns / 1e9, config.queue_timeout_ns / 1e9
        return self._started(config.max_batch_size, delay_s, config.instances, timeout_s)

    def deploy_defaults(self) -> Server:
        """Start a server with nothing set but its port."""
        return self._started()

    def _started(self, *asked: float) -> Server:
        port = free_port()
        client = HttpClient(f"http://127.0.0.1:{port}")
        return Server(
            self._python, SERVER, port, *asked,
            name="LitServe", submit=partial(client.infer, "/predict"), ready=partial(client.ok, "/health"),
        )  # fmt: skip
