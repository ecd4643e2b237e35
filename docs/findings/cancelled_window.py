"""Shows a request that is executed although it was cancelled while it waited for company at an idle model.

    python cancelled_window.py [host:grpc_port [trials]]

Needs `pip install tritonclient[grpc]` and a Triton with the Python backend and --model-control-mode=explicit.
"""

import json
import queue
import sys
import time

import numpy as np
import tritonclient.grpc as triton

GRPC, TRIALS = (sys.argv[1:] + ["localhost:8001", "10"][len(sys.argv) - 1 :])[:2]
MODEL = b"""
import triton_python_backend_utils as pb
class TritonPythonModel:
    def execute(self, requests):
        size = pb.Tensor("SIZE", __import__("numpy").full((1, 1), len(requests), "int32"))
        return [pb.InferenceResponse([size]) for _ in requests]
"""
PLAIN = {"max_queue_delay_microseconds": 800_000}
TIMEOUT = PLAIN | {"default_queue_policy": {"default_timeout_microseconds": 20_000_000}}
LIMIT = PLAIN | {"default_queue_policy": {"max_queue_size": 1000}}
LEVELS = PLAIN | {"priority_levels": 2, "default_priority_level": 2}
tensor = triton.InferInput("IN", [1, 1], "INT32")
tensor.set_data_from_numpy(np.zeros((1, 1), dtype=np.int32))
client = triton.InferenceServerClient(GRPC)
print("Triton", client.get_server_metadata().version, "- expected: the batch of the first request has 2 requests")
for name, batching in {"plain": PLAIN, "timeout": TIMEOUT, "limit": LIMIT, "levels": LEVELS}.items():
    config = {"name": name, "backend": "python", "max_batch_size": 4, "dynamic_batching": batching}
    config |= {"input": [{"name": "IN", "data_type": "TYPE_INT32", "dims": [-1]}]}
    config |= {"output": [{"name": "SIZE", "data_type": "TYPE_INT32", "dims": [-1]}]}
    client.load_model(name, config=json.dumps(config), files={"file:1/model.py": MODEL}, client_timeout=60)
    answers: queue.Queue = queue.Queue()
    for _ in range(int(TRIALS)):
        client.async_infer(name, [tensor], lambda result, error, to=answers: to.put(error or result.as_numpy("SIZE").item()))
        gone = client.async_infer(name, [tensor], lambda **_: None)
        time.sleep(0.2)
        client.async_infer(name, [tensor], lambda **_: None)
        gone.cancel()  # half a second before the batch leaves
        time.sleep(0.9)
    executed = sum(answers.get() == 3 for _ in range(int(TRIALS)))
    print(f"{name}: the cancelled request was executed in {executed} of {TRIALS} trials")
    client.unload_model(name)
