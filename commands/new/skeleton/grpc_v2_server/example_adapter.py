"""An adapter: lets Batchproof judge the server of `example_server.py`, in processes of its own."""

from functools import partial
from pathlib import Path

from batchproof.reference_batcher import BatcherConfig
from batchproof.targets import TargetInfo
from batchproof.targets.kit import Interpreter, Server, V2Grpc, free_port


class Example:
    """The target. python: the interpreter that has the server's packages (`?python=...`), if that is not this one."""

    info = TargetInfo("example", "1.0", "example_adapter:Example", claims={"delay": True, "delay_anchor": "first-dequeue"})
    deploys_at_once = 2  # servers that start at the same time

    def __init__(self, python: str = "") -> None:
        self.python = Interpreter(python, ["numpy", "tritonclient", "grpcio"])

    def deploy(self, config: BatcherConfig) -> Server:
        """Start a server with this configuration."""
        port, program = free_port(), Path(__file__).with_name("example_server.py")
        client = V2Grpc(f"127.0.0.1:{port}")
        return Server(
            self.python, program, port, config.max_batch_size, config.max_queue_delay_ns / 1e9,
            submit=partial(client.infer, "witness"), ready=partial(client.ready, "witness"), name="example",
        )  # fmt: skip
