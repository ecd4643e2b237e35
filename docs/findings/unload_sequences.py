"""Shows that a model that is unloaded keeps the sequences that wait for a slot until an open one is idle (docs/findings.md).

    python unload_sequences.py [host:grpc_port]

Needs `pip install tritonclient[grpc]` and a Triton with the Python backend and --model-control-mode=explicit. Each trial
opens a sequence, which takes the only slot, sends another of one request, which waits, unloads the model 0.5 s later, and
prints when the request was answered.
"""

import json
import queue
import sys
import time

import numpy as np
import tritonclient.grpc as triton

MODEL = b"""
import triton_python_backend_utils as pb
class TritonPythonModel:
    def execute(self, requests):
        one = [pb.get_input_tensor_by_name(request, "IN").as_numpy() for request in requests]
        return [pb.InferenceResponse([pb.Tensor("OUT", values)]) for values in one]
"""
client = triton.InferenceServerClient(sys.argv[1] if len(sys.argv) > 1 else "localhost:8001")
answers: queue.SimpleQueue[object] = queue.SimpleQueue()
values = triton.InferInput("IN", [1, 1], "INT32")
values.set_data_from_numpy(np.array([[7]], np.int32))
for idle_s in (2, 10, 30):
    tensor = {"data_type": "TYPE_INT32", "dims": [1]}
    config = {"backend": "python", "max_batch_size": 1, "input": [{"name": "IN", **tensor}],
              "output": [{"name": "OUT", **tensor}], "instance_group": [{"kind": "KIND_CPU", "count": 1}],
              "sequence_batching": {"direct": {}, "max_sequence_idle_microseconds": idle_s * 1_000_000}}
    client.load_model("waits", config=json.dumps(config), files={"file:1/model.py": MODEL})
    client.infer("waits", [values], sequence_id=1, sequence_start=True)
    sent = time.monotonic()
    client.async_infer("waits", [values], lambda result, error: answers.put(error or result.as_numpy("OUT").tolist()),
                       sequence_id=2, sequence_start=True, sequence_end=True)
    time.sleep(0.5)
    client.unload_model("waits")
    unloaded = time.monotonic() - sent
    answer = answers.get(timeout=idle_s + 20)
    print(f"idle {idle_s:>2} s: unload returned after {unloaded:.1f} s, {answer} after {time.monotonic() - sent:.1f} s")
