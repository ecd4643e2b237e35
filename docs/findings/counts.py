"""Compares what the server counts with what its client saw (docs/findings.md).

    python counts.py [host:grpc_port [host:metrics_port [trials]]]

Needs `pip install tritonclient[grpc]` and a Triton with the Python backend and --model-control-mode=explicit.
Each trial makes one kind of request end in one way, and prints by how much each count has grown.
"""

import http.client
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import numpy as np
import tritonclient.grpc as triton

GRPC, METRICS, TRIALS = (sys.argv[1:] + ["localhost:8001", "localhost:8002", "10"][len(sys.argv) - 1 :])[:3]
NAME = "counts"
CONFIG: dict[str, Any] = {
    "name": NAME,
    "backend": "python",
    "max_batch_size": 4,
    "dynamic_batching": {"default_queue_policy": {"max_queue_size": 2, "default_timeout_microseconds": 1_500_000}},
    "input": [{"name": "MS", "data_type": "TYPE_INT32", "dims": [1]}],
    "output": [{"name": "OUT", "data_type": "TYPE_INT32", "dims": [1]}],
    "instance_group": [{"kind": "KIND_CPU", "count": 1}],
}
MODEL = b"""
import time
import triton_python_backend_utils as pb
class TritonPythonModel:
    def execute(self, requests):
        rows = [pb.get_input_tensor_by_name(r, "MS").as_numpy() for r in requests]
        time.sleep(max(int(row[0, 0]) for row in rows) / 1000)
        if any(r.request_id() == "raise" for r in requests):
            raise RuntimeError("no")
        return [
            pb.InferenceResponse([], pb.TritonError("no")) if r.request_id() == "error" else
            pb.InferenceResponse([pb.Tensor("OUT", row)]) for r, row in zip(requests, rows)
        ]
"""


def send(client: Any, kind: str, work_ms: int = 0, rows: int = 1) -> tuple[Future[str], Any]:
    """Send a request; the Future gives what the client saw."""
    future: Future[str] = Future()
    tensor = triton.InferInput("MS", [rows, 1], "INT32")
    tensor.set_data_from_numpy(np.full((rows, 1), work_ms, dtype=np.int32))
    call = client.async_infer(
        NAME,
        [tensor],
        lambda error, **_: future.set_result("answered" if error is None else f"{error.status()}".split(".")[-1]),
        request_id=kind,
    )
    return future, call


def counts(client: Any) -> dict[str, int]:
    """Return the counts of the statistics, and of the metrics under their own names."""
    time.sleep(0.1)  # counted after the answer is sent
    model = client.get_inference_statistics(NAME).model_stats[0]
    seen = {
        "success": model.inference_stats.success.count,
        "fail": model.inference_stats.fail.count,
        "inference_count": model.inference_count,
        "execution_count": model.execution_count,
        "batch_stats": sum(one.compute_infer.count for one in model.batch_stats),
    }
    connection = http.client.HTTPConnection(METRICS, timeout=10)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    for metric, labels, value in re.findall(r"^(nv_inference_request_\w+?){([^}]*)} (\d+)$", text, re.MULTILINE):
        if f'model="{NAME}"' in labels and "_duration_" not in metric:
            reason = re.search(r'reason="(\w+)"', labels)
            seen[metric + (f":{reason[1]}" if reason else "")] = int(value)
    return seen


def ways(client: Any) -> dict[str, Callable[[], list[str]]]:
    """Return the ways in which a request can end; each returns what the client saw."""

    def one(kind: str, rows: int = 1) -> list[str]:
        return [send(client, kind, rows=rows)[0].result(30)]

    def behind_a_plug(count: int, plug_ms: int, *, cancel: bool = False) -> list[str]:
        plug, _ = send(client, "plug", plug_ms)
        time.sleep(0.1)  # the plug is in the model
        sent = [send(client, "q") for _ in range(count)]
        if cancel:
            time.sleep(0.05)
            for _, call in sent:
                call.cancel()
        return [plug.result(30), *(future.result(30) for future, _ in sent)]

    return {
        "answered, 3 rows": lambda: one("a", 3),
        "the model raises, 3 rows": lambda: one("raise", 3),
        "the model returns a TritonError": lambda: one("error"),
        "5 rows, limit 4": lambda: one("a", 5),
        "a plug, then 4 for a queue of 2": lambda: behind_a_plug(4, 300),
        "a plug, then 2 that time out": lambda: behind_a_plug(2, 2500),
        "a plug, then 2 that are cancelled": lambda: behind_a_plug(2, 500, cancel=True),
    }


def main() -> None:
    """Try each way."""
    client = triton.InferenceServerClient(GRPC)
    print("Triton", client.get_server_metadata().version)
    client.load_model(NAME, config=json.dumps(CONFIG), files={"file:1/model.py": MODEL}, client_timeout=60)
    send(client, "a")[0].result(30)
    for way, act in ways(client).items():
        lines = Counter[str]()
        for _ in range(int(TRIALS)):
            before = counts(client)
            saw = Counter(act())
            time.sleep(0.8)  # a cancelled request is counted when its batch would have been formed
            after = counts(client)
            grown = {name: after[name] - before[name] for name in after if after[name] != before[name]}
            lines[f"client {dict(sorted(saw.items()))}, server {grown}"] += 1
        for line, times in lines.items():
            print(f"{way}: {times} of {TRIALS}: {line}", flush=True)
    client.unload_model(NAME)


if __name__ == "__main__":
    main()
