"""Shows batches of requests with different shapes (docs/findings.md).

    python mixed_shapes.py [host:grpc_port [bursts]]

Needs `pip install tritonclient[grpc]` and a Triton with the Python backend and --model-control-mode=explicit.
Each burst has 18 requests of one row, three of one column and three of two columns, in turn. The model answers with the
numbers of columns in its batch. The input is not ragged, so all numbers in an answer have to be the same.
"""

import json
import sys
from concurrent.futures import Future
from typing import Any

import numpy as np
import tritonclient.grpc as triton

GRPC, BURSTS = (sys.argv[1:] + ["localhost:8001", "40"][len(sys.argv) - 1 :])[:2]
COLUMNS = (1, 1, 1, 2, 2, 2) * 3
PAIRS: dict[str, Any] = {"preferred_batch_size": [2, 6]}
DELAY: dict[str, Any] = {"max_queue_delay_microseconds": 20_000}
TIMEOUT: dict[str, Any] = {"default_queue_policy": {"default_timeout_microseconds": 600_000_000}}
LIMIT: dict[str, Any] = {"default_queue_policy": {"max_queue_size": 1000}}
SETTINGS = {
    "sizes, delay, timeout": {**PAIRS, **DELAY, **TIMEOUT},
    "sizes, delay, limit": {**PAIRS, **DELAY, **LIMIT},
    "sizes, delay": {**PAIRS, **DELAY},
    "sizes, timeout": {**PAIRS, **TIMEOUT},
    "delay, timeout": {**DELAY, **TIMEOUT},
}
MODEL = b"""
import numpy as np
import triton_python_backend_utils as pb
class TritonPythonModel:
    def execute(self, requests):
        columns = np.array([[pb.get_input_tensor_by_name(r, "ROW").shape()[1] for r in requests]], dtype=np.int32)
        return [pb.InferenceResponse([pb.Tensor("COLUMNS", columns)]) for _ in requests]
"""


def send(client: Any, name: str, columns: int) -> Future[Any]:
    """Send a request; the Future gives the columns of all requests in its batch."""
    future: Future[Any] = Future()
    row = triton.InferInput("ROW", [1, columns], "INT32")
    row.set_data_from_numpy(np.zeros((1, columns), dtype=np.int32))
    client.async_infer(
        name, [row], lambda result, error: future.set_result(error if result is None else {*result.as_numpy("COLUMNS")[0]})
    )
    return future


client = triton.InferenceServerClient(GRPC)
for setting, batching in SETTINGS.items():
    name = setting.replace(", ", "_")
    config = {
        "backend": "python", "max_batch_size": 8, "dynamic_batching": batching,
        "input": [{"name": "ROW", "data_type": "TYPE_INT32", "dims": [-1]}],
        "output": [{"name": "COLUMNS", "data_type": "TYPE_INT32", "dims": [-1]}],
        "instance_group": [{"kind": "KIND_CPU", "count": 4}],
    }  # fmt: skip
    client.load_model(name, config=json.dumps(config), files={"file:1/model.py": MODEL})
    mixed = 0
    for _ in range(int(BURSTS)):
        seen = [future.result(60) for future in [send(client, name, columns) for columns in COLUMNS]]
        mixed += any(isinstance(columns, set) and len(columns) > 1 for columns in seen)
    print(f"{setting}: {mixed} of {BURSTS} bursts have a batch with several shapes", flush=True)
    client.unload_model(name)
