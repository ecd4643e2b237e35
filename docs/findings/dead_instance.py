"""Shows that an instance whose process was killed keeps its turn, and fails every request that it gets (docs/findings.md).

    python dead_instance.py [host:grpc_port]

Needs `pip install tritonclient[grpc]` and a Triton on this host with the Python backend and --model-control-mode=explicit. A
model has three instances; the process of one is killed, and then thirty requests are sent, one after another.
"""

import json
import os
import signal
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import tritonclient.grpc as triton

MODEL = b"""
import os
import numpy as np
import triton_python_backend_utils as pb
class TritonPythonModel:
    def execute(self, requests):
        return [pb.InferenceResponse([pb.Tensor("OUT", np.array([[os.getpid()]], np.int32))]) for _ in requests]
"""
TENSOR = {"data_type": "TYPE_INT32", "dims": [1]}
CONFIG = {"backend": "python", "max_batch_size": 4, "input": [{"name": "IN", **TENSOR}],
          "output": [{"name": "OUT", **TENSOR}], "dynamic_batching": {},
          "instance_group": [{"kind": "KIND_CPU", "count": 3}]}
client = triton.InferenceServerClient(sys.argv[1] if len(sys.argv) > 1 else "localhost:8001")
client.load_model("three", config=json.dumps(CONFIG), files={"file:1/model.py": MODEL})


def ask() -> str:
    """Send one request; return the process that answered, or the error."""
    values = triton.InferInput("IN", [1, 1], "INT32")
    values.set_data_from_numpy(np.array([[7]], np.int32))
    try:
        return f"process {client.infer('three', [values], client_timeout=10).as_numpy('OUT')[0, 0]}"
    except triton.InferenceServerException as error:
        return str(error.message())


print("before:", dict(Counter(ask() for _ in range(30))))
for folder in Path("/proc").glob("[0-9]*"):
    words = (folder / "cmdline").read_bytes() if (folder / "cmdline").exists() else b""
    if b"python_backend_stub" in words and b"three_0_1" in words:
        os.kill(int(folder.name), signal.SIGKILL)
        print("killed:", folder.name)
print("after:", dict(Counter(ask() for _ in range(30))))
print("the server says that the model is", "ready" if client.is_model_ready("three") else "not ready")
client.unload_model("three")
