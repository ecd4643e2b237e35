"""Shows batches that do not have a preferred size, or not the largest one (docs/findings.md).

    python preferred_sizes.py [host:grpc_port [host:metrics_port [trials]]]

Needs `pip install tritonclient[grpc]` and a Triton with the Python backend and --model-control-mode=explicit.
Each trial holds the only instance with a plug and queues requests of one row, each seen in the server's own gauge before
the next is sent. The batch limit is 8. A queue policy (a queue limit of 1000) switches prefetch off.
"""

import http.client
import json
import re
import sys
import time
from collections import Counter
from concurrent.futures import Future
from typing import Any

import numpy as np
import tritonclient.grpc as triton

GRPC, METRICS, TRIALS = (sys.argv[1:] + ["localhost:8001", "localhost:8002", "10"][len(sys.argv) - 1 :])[:3]
POLICY: dict[str, Any] = {"default_queue_policy": {"max_queue_size": 1000}}
# name: preferred sizes, delay in ms, policy, number of requests, sizes expected
SETTINGS: dict[str, tuple[list[int], int, dict[str, Any], int, tuple[int, ...]]] = {
    "4_delay": ([4], 2000, {}, 5, (4, 1)),
    "4_delay_policy": ([4], 2000, POLICY, 5, (4, 1)),
    "2_6_delay": ([2, 6], 2000, {}, 7, (6, 1)),
    "2_6_delay_policy": ([2, 6], 2000, POLICY, 7, (6, 1)),
    "4_no_delay": ([4], 0, {}, 5, (4, 1)),
    "2_6_no_delay": ([2, 6], 0, {}, 7, (6, 1)),
    "2_6_no_delay_policy": ([2, 6], 0, POLICY, 7, (6, 1)),
    "2_6_no_delay_18": ([2, 6], 0, {}, 18, (6, 6, 6)),
}
MODEL = b"""
import time
import numpy as np
import triton_python_backend_utils as pb
class TritonPythonModel:
    count = 0
    def execute(self, requests):
        self.count += 1
        rows = [pb.get_input_tensor_by_name(r, "MS").as_numpy() for r in requests]
        time.sleep(max(int(row[0, 0]) for row in rows) / 1000)
        answer = np.array([self.count, sum(len(row) for row in rows)], dtype=np.int32)
        return [pb.InferenceResponse([pb.Tensor("EXECUTION", np.tile(answer, (len(row), 1)))]) for row in rows]
"""


def send(client: Any, name: str, work_ms: int, rows: int = 1) -> Future[Any]:
    """Send a request; the Future gives the number and the size of the execution that it was in."""
    future: Future[Any] = Future()
    tensor = triton.InferInput("MS", [rows, 1], "INT32")
    tensor.set_data_from_numpy(np.full((rows, 1), work_ms, dtype=np.int32))
    client.async_infer(
        name,
        [tensor],
        lambda result, error: future.set_result(
            error if result is None else tuple(result.as_numpy("EXECUTION")[0].tolist())
        ),
    )
    return future


def pending(name: str) -> int:
    """Return the server's own gauge of queued requests."""
    connection = http.client.HTTPConnection(METRICS, timeout=10)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    seen = re.search(rf'nv_inference_pending_request_count{{model="{name}".*}} (\d+)', text)
    return int(seen[1]) if seen else 0


def trial(client: Any, name: str, plug_rows: int, requests: int) -> tuple[int, ...]:
    """Return the sizes of the executions after the plug, or nothing if the backlog was not complete in time."""
    plug, backlog = send(client, name, 700, plug_rows), []  # of a preferred size, so that it leaves at once
    time.sleep(0.1)  # the plug is in the model
    for count in range(1, requests + 1):
        backlog.append(send(client, name, 20))
        while pending(name) < count and not plug.done():
            pass
    in_time = not plug.done()
    seen = dict(future.result(30) for future in backlog)
    return tuple(size for _, size in sorted(seen.items())) if in_time else ()


def main() -> None:
    """Try each setting."""
    client = triton.InferenceServerClient(GRPC)
    print("Triton", client.get_server_metadata().version)
    for name, (preferred, delay_ms, policy, requests, expected) in SETTINGS.items():
        config = {
            "name": name,
            "backend": "python",
            "max_batch_size": 8,
            "dynamic_batching": {
                "preferred_batch_size": preferred,
                "max_queue_delay_microseconds": delay_ms * 1000,
                **policy,
            },
            "input": [{"name": "MS", "data_type": "TYPE_INT32", "dims": [1]}],
            "output": [{"name": "EXECUTION", "data_type": "TYPE_INT32", "dims": [2]}],
            "instance_group": [{"kind": "KIND_CPU", "count": 1}],
        }
        client.load_model(name, config=json.dumps(config), files={"file:1/model.py": MODEL}, client_timeout=60)
        seen = Counter(trial(client, name, preferred[-1], requests) for _ in range(int(TRIALS)))
        right = seen[expected]
        print(f"{name}: {requests} requests, expected {expected}: {right} of {TRIALS}, seen {dict(seen)}", flush=True)
        client.unload_model(name)


if __name__ == "__main__":
    main()
