"""Target `mlserver`: the witness behind an MLServer of its own, over gRPC or HTTP. docs/stacks/mlserver.md has more."""

from functools import partial
from pathlib import Path

from batchproof.reference_batcher import BatcherConfig
from batchproof.targets import TargetInfo
from batchproof.targets.kit import Interpreter, Server, V2Grpc, V2Http, free_ports
from batchproof.targets.protocol import Misuse

SERVER = Path(__file__).with_name("mlserver_server.py")
HOW = (
    "python3 -m venv mlserver-env && mlserver-env/bin/pip install mlserver 'uvloop<0.22', "
    "then --target 'mlserver?python=mlserver-env/bin/python'"
)
CLAIMS = {
    "delay": True,
    "delay_anchor": "first-dequeue",
    "batches_without_delay": False,
    "late_binding": False,
    "rows": "requests",
    "instances": True,
    "close": True,
    "defaults": True,
    "default_batch": 1,
    "default_delay_ms": 0,
}


class MLServerTarget:
    """MLServer, with a server for each configuration. python: the interpreter that has it. wire: grpc or http."""

    deploys_at_once = 2

    def __init__(self, python: str = "", wire: str = "grpc") -> None:
        if wire not in ("grpc", "http"):
            raise Misuse(f"the target mlserver has wire=grpc and wire=http, not '{wire}'")
        self._python, self._wire = Interpreter(python, ["mlserver"], HOW), wire
        self.info = TargetInfo("mlserver", self._python.versions["mlserver"], "mlserver", claims=CLAIMS)

    def deploy(self, config: BatcherConfig) -> Server:
        """Start a server, with the witness as its only model."""
        return self._started(config.max_batch_size, config.max_queue_delay_ns / 1e9, config.instances)

    def deploy_defaults(self) -> Server:
        """Start a server with nothing set but its ports."""
        return self._started()

    def _started(self, *asked: float) -> Server:
        http, grpc = free_ports(2)
        client = V2Grpc(f"127.0.0.1:{grpc}") if self._wire == "grpc" else V2Http(f"http://127.0.0.1:{http}")
        return Server(
            self._python, SERVER, http, grpc, *asked,
            name="MLServer", submit=partial(client.infer, "witness"), ready=partial(client.ready, "witness"),
            checks_shapes=True,
        )  # fmt: skip
