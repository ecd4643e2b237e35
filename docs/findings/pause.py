"""Shows a server that a pause kills while a Python model executes, and a model that does not come back (docs/findings.md).

    python pause.py PID [host:grpc_port [pauses [seconds]]]

Needs `pip install tritonclient[grpc]` and a Triton with the Python backend and --model-control-mode=explicit on this host.
PID is the leader of its process group, which is stopped (SIGSTOP) and continued (SIGCONT), as by `docker pause` or when a
virtual machine is moved. The model takes 400 ms a batch. With 0 pauses, its process is killed, and five requests are sent.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import tritonclient.grpc as triton

ARGS = sys.argv[1:] + ["", "localhost:8001", "5", "3"][len(sys.argv) - 1 :]
PID, GRPC, PAUSES, SECONDS = int(ARGS[0]), ARGS[1], int(ARGS[2]), float(ARGS[3])
MODEL = b"""
import time
import triton_python_backend_utils as pb
class TritonPythonModel:
    def execute(self, requests):
        time.sleep(0.4)
        return [pb.InferenceResponse([pb.Tensor("OUT", pb.get_input_tensor_by_name(r, "IN").as_numpy())]) for r in requests]
"""
TENSOR = {"data_type": "TYPE_INT32", "dims": [1]}
CONFIG = {
    "name": "paused",
    "backend": "python",
    "max_batch_size": 4,
    "input": [{"name": "IN", **TENSOR}],
    "output": [{"name": "OUT", **TENSOR}],
    "instance_group": [{"kind": "KIND_CPU", "count": 1}],
    "dynamic_batching": {},
}


def ask(client: Any) -> str:
    """Send one request and return what came back."""
    one = triton.InferInput("IN", [1, 1], "INT32")
    one.set_data_from_numpy(np.zeros((1, 1), dtype=np.int32))
    try:
        client.infer("paused", [one], client_timeout=10.0)
    except triton.InferenceServerException as error:
        return str(error)[:90]
    return "answered"


def kill_model() -> None:
    """Kill the process that runs the model."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes()
            if b"python_backend_stub" in words and b"paused_0" in words and os.getpgid(int(folder.name)) == PID:
                os.kill(int(folder.name), signal.SIGKILL)
        except OSError:
            continue


def main() -> None:
    """Pause again and again, or kill once."""
    client = triton.InferenceServerClient(GRPC)
    print("Triton", client.get_server_metadata().version)
    client.load_model("paused", config=json.dumps(CONFIG), files={"file:1/model.py": MODEL})
    print("before:", ask(client))
    if not PAUSES:
        kill_model()
        for _ in range(5):
            print("after the kill:", ask(client))
        client.unload_model("paused")
        return
    for number in range(1, PAUSES + 1):
        inputs = triton.InferInput("IN", [1, 1], "INT32")
        inputs.set_data_from_numpy(np.zeros((1, 1), dtype=np.int32))
        for _ in range(8):
            client.async_infer("paused", [inputs], lambda result, error: None)  # noqa: ARG005
        time.sleep(0.1)
        os.killpg(PID, signal.SIGSTOP)
        time.sleep(SECONDS)
        os.killpg(PID, signal.SIGCONT)
        time.sleep(1.0)
        print(f"after pause {number}:", ask(client))


if __name__ == "__main__":
    main()
