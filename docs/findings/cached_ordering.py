"""Shows that with preserve_ordering, one hit in the response cache blocks every later answer (docs/findings.md).

    python cached_ordering.py [host:grpc_port [trials [seconds]]]

Needs `pip install tritonclient[grpc]` and a Triton with the Python backend, --model-control-mode=explicit and a response
cache (--cache-config=local,size=1048576, and --cache-directory if the caches are not in their usual place).
Each trial loads the model again and sends A, A again (a hit), B, A again and C, each after the answer to the last one.
It gives up on a request after that many seconds. Requests that are stuck stay stuck, so stop the server afterwards.
"""

import json
import sys
import time
from typing import Any

import numpy as np
import tritonclient.grpc as triton

GRPC, TRIALS, SECONDS = (sys.argv[1:] + ["localhost:8001", "10", "3"][len(sys.argv) - 1 :])[:3]
MODEL = b"""
import triton_python_backend_utils as pb
class TritonPythonModel:
    def execute(self, requests):
        values = [pb.get_input_tensor_by_name(request, "IN").as_numpy() for request in requests]
        return [pb.InferenceResponse([pb.Tensor("OUT", value)]) for value in values]
"""
CACHE: dict[str, Any] = {"response_cache": {"enable": True}}
SETTINGS: dict[str, dict[str, Any]] = {
    "cache": {"dynamic_batching": {}, **CACHE},
    "ordering": {"dynamic_batching": {"preserve_ordering": True}},
    "both": {"dynamic_batching": {"preserve_ordering": True}, **CACHE},
}


def infer(client: Any, name: str, value: int) -> str:
    """Send a request; return whether it was answered."""
    tensor = triton.InferInput("IN", [1, 1], "INT32")
    tensor.set_data_from_numpy(np.array([[value]], dtype=np.int32))
    try:
        result = client.infer(name, [tensor], client_timeout=float(SECONDS))
    except triton.InferenceServerException as error:
        return "no answer" if "Deadline" in error.message() else error.message()
    return "answered" if result.as_numpy("OUT").tolist() == [[value]] else "wrong"


def main() -> None:
    """Try each setting."""
    client = triton.InferenceServerClient(GRPC)
    print("Triton", client.get_server_metadata().version)
    print("expected: each request is answered")
    start = int(time.time()) % 1_000_000 * 1000  # inputs that no earlier run has left in the cache
    for setting, extra in SETTINGS.items():
        seen = []
        for trial in range(int(TRIALS)):
            name = f"{setting}_{start}_{trial}"
            config = {
                "name": name,
                "backend": "python",
                "max_batch_size": 4,
                "input": [{"name": "IN", "data_type": "TYPE_INT32", "dims": [1]}],
                "output": [{"name": "OUT", "data_type": "TYPE_INT32", "dims": [1]}],
                "instance_group": [{"kind": "KIND_CPU", "count": 1}],
                **extra,
            }
            client.load_model(name, config=json.dumps(config), files={"file:1/model.py": MODEL}, client_timeout=60)
            a, b, c = (start + trial * 3 + n for n in range(3))
            seen.append(tuple(infer(client, name, value) for value in (a, a, b, a, c)))
            stats = client.get_inference_statistics(name).model_stats[0]
            client.unload_model(name)
        for one in sorted(set(seen)):
            print(f"{setting}: {seen.count(one)} of {TRIALS}: A, A, B, A, C: {', '.join(one)}")
        print(
            f"    the last trial: executions {stats.execution_count}, success {stats.inference_stats.success.count},",
            f"fail {stats.inference_stats.fail.count}, cache_hit {stats.inference_stats.cache_hit.count}",
            flush=True,
        )


if __name__ == "__main__":
    main()
