"""Shows that warm-up samples are counted as requests (docs/findings.md).

    python warmup_counts.py [host:grpc_port [host:metrics_port]]

Needs `pip install tritonclient[grpc]` and a Triton with the Python backend and --model-control-mode=explicit. A model is
loaded with a sample of 2 rows that runs 3 times on each of 2 instances; then one request is sent.
"""

import json
import sys
import urllib.request

import numpy as np
import tritonclient.grpc as triton

MODEL = b"""
import triton_python_backend_utils as pb
class TritonPythonModel:
    def execute(self, requests):
        one = [pb.get_input_tensor_by_name(request, "IN").as_numpy() for request in requests]
        return [pb.InferenceResponse([pb.Tensor("OUT", values)]) for values in one]
"""
ARGS = sys.argv[1:] + ["localhost:8001", "localhost:8002"][len(sys.argv) - 1 :]
TENSOR = {"data_type": "TYPE_INT32", "dims": [1]}
SAMPLE = {"name": "sample", "batch_size": 2, "count": 3, "inputs": {"IN": {**TENSOR, "zero_data": True}}}
CONFIG = {"backend": "python", "max_batch_size": 4, "input": [{"name": "IN", **TENSOR}],
          "output": [{"name": "OUT", **TENSOR}], "dynamic_batching": {}, "model_warmup": [SAMPLE],
          "instance_group": [{"kind": "KIND_CPU", "count": 2}]}
client = triton.InferenceServerClient(ARGS[0])


def counts() -> str:
    """Return what the server has counted for the model."""
    model = client.get_inference_statistics("warmed", as_json=True)["model_stats"][0]
    with urllib.request.urlopen(f"http://{ARGS[1]}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    metric = [line for line in lines if line.startswith('nv_inference_request_success{model="warmed"')]
    inferences, executions = model.get("inference_count", 0), model.get("execution_count", 0)
    success = model["inference_stats"].get("success", {}).get("count", 0)
    told = f"success {success}, inferences {inferences}, executions {executions}"
    return f"{told}, {metric[0].rpartition('} ')[2]} in the metric"


client.load_model("warmed", config=json.dumps(CONFIG), files={"file:1/model.py": MODEL})
print("after the load, without any request:", counts())
values = triton.InferInput("IN", [1, 1], "INT32")
values.set_data_from_numpy(np.array([[7]], np.int32))
client.infer("warmed", [values])
print("after one request:", counts())
client.unload_model("warmed")
