"""Shows that the response cache keeps the answer of a failed execution, as a success without outputs (docs/findings.md).

    python cached_error.py [host:grpc_port [host:http_port [trials]]]

Needs `pip install tritonclient[grpc]` and a Triton with the Python backend, --model-control-mode=explicit and a response
cache (--cache-config=local,size=1048576, and --cache-directory if the caches are not in their usual place).
Each trial sends one request to a model that fails once for each input, and then the same request again.
"""

import http.client
import json
import sys
import time
from typing import Any

import numpy as np
import tritonclient.grpc as triton

GRPC, HTTP, TRIALS = (sys.argv[1:] + ["localhost:8001", "localhost:8000", "10"][len(sys.argv) - 1 :])[:3]
MODEL = b"""
import numpy as np
import triton_python_backend_utils as pb
class TritonPythonModel:
    seen = set()
    def execute(self, requests):
        answers = []
        for request in requests:
            value = int(pb.get_input_tensor_by_name(request, "IN").as_numpy()[0, 0])
            first = value not in self.seen
            self.seen.add(value)
            if first and RAISES:
                raise RuntimeError("no memory, this time")
            error = pb.TritonError("no memory, this time") if first else None
            answers.append(pb.InferenceResponse([] if first else [pb.Tensor("OUT", np.array([[value]], np.int32))], error))
        return answers
"""
CONFIG: dict[str, Any] = {
    "backend": "python",
    "max_batch_size": 4,
    "input": [{"name": "IN", "data_type": "TYPE_INT32", "dims": [1]}],
    "output": [{"name": "OUT", "data_type": "TYPE_INT32", "dims": [1]}],
    "instance_group": [{"kind": "KIND_CPU", "count": 1}],
}
SETTINGS: dict[str, tuple[dict[str, Any], bool]] = {
    "no_cache_raises": ({"dynamic_batching": {}}, True),
    "cache_raises": ({"dynamic_batching": {}, "response_cache": {"enable": True}}, True),
    "cache_error_response": ({"dynamic_batching": {}, "response_cache": {"enable": True}}, False),
    "cache_no_batching": ({"response_cache": {"enable": True}}, True),
}


def infer(client: Any, name: str, value: int) -> str:
    """Send a request by gRPC; return its output, or how it failed."""
    tensor = triton.InferInput("IN", [1, 1], "INT32")
    tensor.set_data_from_numpy(np.array([[value]], dtype=np.int32))
    try:
        result = client.infer(name, [tensor], client_timeout=30)
    except triton.InferenceServerException as error:
        return f"{error.status()}: no memory" if "no memory" in error.message() else f"{error.status()}: {error.message()}"
    output = result.as_numpy("OUT")
    return "success without output" if output is None else "right" if output.tolist() == [[value]] else "wrong"


def infer_http(name: str, value: int) -> str:
    """Send the same by HTTP; return the status and the body."""
    connection = http.client.HTTPConnection(HTTP, timeout=30)
    request = {"inputs": [{"name": "IN", "shape": [1, 1], "datatype": "INT32", "data": [value]}]}
    connection.request("POST", f"/v2/models/{name}/infer", json.dumps(request))
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return f"{answer.status} {body}"


def main() -> None:
    """Try each setting."""
    client = triton.InferenceServerClient(GRPC)
    print("Triton", client.get_server_metadata().version)
    print("expected: the first request of each pair fails, the second is executed and answered")
    start = int(time.time()) % 1_000_000 * 1000  # inputs that no earlier run has left in the cache
    for name, (extra, raises) in SETTINGS.items():
        source = MODEL.replace(b"RAISES", str(raises).encode())
        config = json.dumps({"name": name, **CONFIG, **extra})
        client.load_model(name, config=config, files={"file:1/model.py": source}, client_timeout=60)
        pairs = [(infer(client, name, start + trial), infer(client, name, start + trial)) for trial in range(int(TRIALS))]
        for pair in sorted(set(pairs)):
            print(f"{name}: {pairs.count(pair)} of {TRIALS}: first {pair[0]!r}, second {pair[1]!r}")
        print(f"    the last once more, by HTTP: {infer_http(name, start + int(TRIALS) - 1)}")
        stats = client.get_inference_statistics(name).model_stats[0]
        print(
            f"    executions {stats.execution_count}, success {stats.inference_stats.success.count},",
            f"fail {stats.inference_stats.fail.count}, cache_hit {stats.inference_stats.cache_hit.count}",
            flush=True,
        )
        client.unload_model(name)


if __name__ == "__main__":
    main()
