"""Shows that, with a rate limiter, a model that needs no resource waits behind one that does (docs/findings.md).

    python limiter_line.py [host:grpc_port]

Needs `pip install tritonclient[grpc]` and a Triton with the Python backend, --model-control-mode=explicit and
--rate-limit=execution_count --rate-limit-resource=R:1. Models `holds` and `waits` need R, and `free` needs nothing. Each
execution of `holds` takes 3 s. Requests are sent to `holds`, then to `waits`, then to `free`.
"""

import json
import queue
import sys
import time

import numpy as np
import tritonclient.grpc as triton

MODEL = b"""
import time
import triton_python_backend_utils as pb
class TritonPythonModel:
    def execute(self, requests):
        one = [pb.get_input_tensor_by_name(request, "IN").as_numpy() for request in requests]
        time.sleep(max(float(values.max()) for values in one))
        return [pb.InferenceResponse([pb.Tensor("OUT", values)]) for values in one]
"""
TENSOR = {"data_type": "TYPE_INT32", "dims": [1]}
client = triton.InferenceServerClient(sys.argv[1] if len(sys.argv) > 1 else "localhost:8001")
answers: "queue.SimpleQueue[str]" = queue.SimpleQueue()
for name in ("holds", "waits", "free"):
    limiter = {} if name == "free" else {"rate_limiter": {"resources": [{"name": "R", "count": 1}]}}
    config = {"backend": "python", "max_batch_size": 1, "input": [{"name": "IN", **TENSOR}],
              "output": [{"name": "OUT", **TENSOR}], "dynamic_batching": {},
              "instance_group": [{"kind": "KIND_CPU", "count": 1, **limiter}]}
    client.load_model(name, config=json.dumps(config), files={"file:1/model.py": MODEL})
began = time.monotonic()


def send(model: str, label: str, seconds: int) -> None:
    """Send a request that executes for so long, and note when its answer comes."""
    values = triton.InferInput("IN", [1, 1], "INT32")
    values.set_data_from_numpy(np.array([[seconds]], np.int32))

    def told(result: object, error: object) -> None:
        del result
        answers.put(f"{label}: {error or 'answered'} after {time.monotonic() - began:.2f} s")

    client.async_infer(model, [values], told)
    time.sleep(0.1)


for others in ((), ("waits",)):
    began = time.monotonic()
    send("holds", "holds", 3)
    for model in others:
        send(model, model, 0)
    for number in range(3):
        send("free", f"free {number}", 0)
    print(f"with {len(others)} request waiting for R:")
    for _ in range(4 + len(others)):
        print("  ", answers.get(timeout=30))
for name in ("holds", "waits", "free"):
    client.unload_model(name)
