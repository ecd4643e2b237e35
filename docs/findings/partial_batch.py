"""Shows partial batches in the middle of a backlog (docs/findings.md, F-2026-01 and F-2026-02).

Needs `pip install tritonclient[grpc]` and a Triton with the Python backend and --model-control-mode=explicit:

    python partial_batch.py [host:grpc_port [host:metrics_port [trials [head_ms]]]]

Each trial holds the only instance with a plug, queues 12 requests one by one, and records the batches that they leave in.
The batch limit is 4, so 4 4 4 is right. head_ms: how long the first of these batches takes in the model.
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

GRPC, METRICS, TRIALS, HEAD_MS = (sys.argv[1:] + ["localhost:8001", "localhost:8002", "20", "0"][len(sys.argv) - 1 :])[:4]
DELAY: dict[str, Any] = {"max_queue_delay_microseconds": 1000}
# A queue timeout switches prefetch off.
POLICY: dict[str, Any] = {"default_queue_policy": {"default_timeout_microseconds": 60_000_000}}
SETTINGS: dict[str, dict[str, Any]] = {
    "no_delay": {},
    "no_delay_policy": POLICY,
    "delay_1ms": DELAY,
    "delay_1ms_policy": {**DELAY, **POLICY},
}
MODEL = b"""
import time
import numpy as np
import triton_python_backend_utils as pb
class TritonPythonModel:
    count = 0
    def execute(self, requests):
        self.count += 1
        time.sleep(max(int(pb.get_input_tensor_by_name(r, "MS").as_numpy()[0, 0]) for r in requests) / 1000)
        answer = np.array([[self.count, len(requests)]], dtype=np.int32)
        return [pb.InferenceResponse([pb.Tensor("EXECUTION", answer)]) for _ in requests]
"""


def load(client: Any, name: str, batching: dict[str, Any]) -> None:
    """Load the model from memory: nothing is written into the server's repository."""
    config = {
        "name": name,
        "backend": "python",
        "max_batch_size": 4,
        "dynamic_batching": batching,
        "input": [{"name": "MS", "data_type": "TYPE_INT32", "dims": [1]}],
        "output": [{"name": "EXECUTION", "data_type": "TYPE_INT32", "dims": [2]}],
        "instance_group": [{"kind": "KIND_CPU", "count": 1}],
    }
    client.load_model(name, config=json.dumps(config), files={"file:1/model.py": MODEL}, client_timeout=60)


def send(client: Any, name: str, work_ms: int) -> Future[Any]:
    """Send a request of one row; the Future gives the number and the size of the execution that it was in."""
    future: Future[Any] = Future()
    tensor = triton.InferInput("MS", [1, 1], "INT32")
    tensor.set_data_from_numpy(np.array([[work_ms]], dtype=np.int32))
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


def trial(client: Any, name: str) -> tuple[dict[int, int], bool]:
    """Return the executions as {number: size}, the plug's first, and whether the backlog was complete before they began."""
    plug, backlog = send(client, name, 700), []
    time.sleep(0.1)  # the plug is in the model
    for count in range(1, 13):
        backlog.append(send(client, name, int(HEAD_MS) if count == 1 else 0))
        while pending(name) < count and not plug.done():
            pass
        if count == 5:
            time.sleep(0.05)  # the fifth request waits alone for longer than the queue delay
    in_time = not plug.done()
    return dict([plug.result(30), *(future.result(30) for future in backlog)]), in_time


def main() -> None:
    """Try each setting."""
    client = triton.InferenceServerClient(GRPC)
    print("Triton", client.get_server_metadata().version, "head_ms", HEAD_MS)
    for name, batching in SETTINGS.items():
        load(client, name, batching)
        executions, shapes = dict([send(client, name, 0).result(30)]), Counter[tuple[int, ...]]()
        for _ in range(int(TRIALS)):
            seen, in_time = trial(client, name)
            executions.update(seen)
            shapes[tuple(size for _, size in sorted(seen.items())[1:]) if in_time else ()] += 1
        partial = sum(count for shape, count in shapes.items() if any(size < 4 for size in shape[:-1]))
        print(f"{name}: {partial} of {int(TRIALS) - shapes[()]} trials with a partial batch in the middle, {dict(shapes)}")
        stats = client.get_inference_statistics(name).model_stats[0].batch_stats
        print(
            "    the server's batch_stats",
            {one.batch_size: one.compute_infer.count for one in stats},
            "the client's count",
            dict(sorted(Counter(executions.values()).items())),
            flush=True,
        )
        client.unload_model(name)


if __name__ == "__main__":
    main()
