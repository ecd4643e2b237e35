"""Shows that a sequence which begins waits behind the last request of another, although slots are free (docs/findings.md).

    python oldest_slots.py [host:grpc_port]

Needs `pip install tritonclient[grpc]` and a Triton with the Python backend and --model-control-mode=explicit. It uses
the strategy `oldest`, with eight slots and batches of up to four. In each trial, a sequence keeps the model busy for half
a second, and four others begin meanwhile, 30 ms apart. The model says in which of its executions each of them was.
"""

import json
import sys
import time

import numpy as np
import tritonclient.grpc as triton

MODEL = b"""
import time
import triton_python_backend_utils as pb
class TritonPythonModel:
    number = 0
    def execute(self, requests):
        self.number += 1
        one = [pb.get_input_tensor_by_name(request, "IN").as_numpy() for request in requests]
        time.sleep(max(int(values[0, 0]) for values in one) / 1000)
        return [pb.InferenceResponse([pb.Tensor("OUT", values * 0 + self.number)]) for values in one]
"""
client = triton.InferenceServerClient(sys.argv[1] if len(sys.argv) > 1 else "localhost:8001")


def send(answers: list, sequence: int, busy_ms: int, end: bool) -> None:
    """Begin a sequence, and perhaps end it with the same request."""
    values = triton.InferInput("IN", [1, 1], "INT32")
    values.set_data_from_numpy(np.array([[busy_ms]], np.int32))
    client.async_infer("slots", [values], lambda result, error: answers.append((sequence, error or result)),
                       sequence_id=sequence, sequence_start=True, sequence_end=end)
    time.sleep(0.03)


for end in (False, True):
    tensor = {"data_type": "TYPE_INT32", "dims": [1]}
    config = {"backend": "python", "max_batch_size": 4, "input": [{"name": "IN", **tensor}],
              "output": [{"name": "OUT", **tensor}], "instance_group": [{"kind": "KIND_CPU", "count": 1}],
              "sequence_batching": {"oldest": {"max_candidate_sequences": 8}}}
    client.load_model("slots", config=json.dumps(config), files={"file:1/model.py": MODEL})
    answers: list = []
    send(answers, 100, 500, end=False)
    for sequence in (1, 2, 3, 4):
        send(answers, sequence, 0, end)
    while len(answers) < 5:
        time.sleep(0.01)
    runs = {sequence: int(result.as_numpy("OUT")[0, 0]) for sequence, result in sorted(answers, key=lambda one: one[0])}
    print(f"{'with END' if end else 'without END':<12} execution of sequences 1 to 4: {[runs[one] for one in (1, 2, 3, 4)]}")
    client.unload_model("slots")
    time.sleep(2)
