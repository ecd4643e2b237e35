"""The server's half of the target `pytriton`: `pytriton_server.py HTTP GRPC METRICS CONTROL`, which are ports of 127.0.0.1.

It runs where PyTriton is installed, and Batchproof need not be. `POST /bind` on the control port binds a model.
"""

import json
import logging
import os
import sys
import sysconfig
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
from batchproof_witness import Witnesses
from batchproof_witness.probe import COLUMNS, INFO
from pytriton.decorators import batch
from pytriton.model_config import DynamicBatcher, ModelConfig, QueuePolicy, Tensor, TimeoutAction
from pytriton.triton import Triton, TritonConfig


def witness(folder):
    """Return an instance of the model: PyTriton gives it the rows of all requests of a batch as one array."""
    model = Witnesses(folder)

    @batch
    def infer(IN):  # noqa: N803 - the input's name
        echo, info = model.execute_rows(IN)
        return {"OUT": echo, "INFO": info}

    return infer


def policy(asked):
    """Return a queue policy of PyTriton."""
    return QueuePolicy(timeout_action=TimeoutAction[asked.pop("timeout_action")], **asked)


def config(max_batch_size, default_policy, priority_policies, **batcher):
    """Return a configuration of PyTriton."""
    levels = {int(level): policy(asked) for level, asked in priority_policies.items()} or None
    dynamic = DynamicBatcher(default_queue_policy=policy(default_policy), priority_queue_policy=levels, **batcher)
    return {"config": ModelConfig(max_batch_size=max_batch_size, batcher=dynamic)}


def bind(triton, name, folder, instances=1, **asked):
    """Bind the witness, with nothing set if nothing is asked for; PyTriton returns when Triton has loaded it."""
    shapes = {"IN": len(COLUMNS), "OUT": len(COLUMNS), "INFO": len(INFO)}
    tensors = {one: Tensor(name=one, dtype=np.int64, shape=(columns,)) for one, columns in shapes.items()}
    triton.bind(
        model_name=name, infer_func=[witness(folder) for _ in range(instances)], inputs=[tensors["IN"]],
        outputs=[tensors["OUT"], tensors["INFO"]], **(config(**asked) if asked else {}),
    )  # fmt: skip


class Control(BaseHTTPRequestHandler):
    """Binds models one at a time, in the main thread, because PyTriton's `bind` may hang when several threads call it."""

    def do_GET(self):
        """Say that the server is up."""
        self.reply(200, {})

    def do_POST(self):
        """Bind a model."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            bind(self.server.triton, **asked)
        except Exception as error:
            self.reply(400, {"error": f"{type(error).__name__}: {error}"})
        else:
            self.reply(200, {})

    def reply(self, status, body):
        """Answer with JSON."""
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


if __name__ == "__main__":
    http, grpc, metrics, control = map(int, sys.argv[1:])
    logging.basicConfig(level=logging.ERROR)
    os.environ["LD_LIBRARY_PATH"] = sysconfig.get_config_var("LIBDIR")  # else the backend takes any libpython that it finds
    here = dict.fromkeys(("http_address", "grpc_address", "metrics_address"), "127.0.0.1")
    ports = {"http_port": http, "grpc_port": grpc, "metrics_port": metrics}
    # with strict readiness, PyTriton's default, a model that fails to load keeps every later `bind` waiting for 120 s
    settings = TritonConfig(**ports, **here, exit_timeout_secs=2, strict_readiness=False)
    with Triton(config=settings) as triton, HTTPServer(("127.0.0.1", control), Control) as server:
        server.triton = triton
        server.serve_forever()
