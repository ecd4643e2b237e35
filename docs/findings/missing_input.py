"""Shows that a request without a required input is served if it brings an optional one (docs/findings.md).

    python missing_input.py [host:grpc_port]

Needs `pip install tritonclient[grpc]` and a Triton with the Python backend and --model-control-mode=explicit.
A and B are required, C is optional. The model answers with how many of the three each request has.
"""

import json
import sys
from typing import Any

import numpy as np
import tritonclient.grpc as triton

GRPC = sys.argv[1] if len(sys.argv) > 1 else "localhost:8001"
NUMBER = {"data_type": "TYPE_INT32", "dims": [1]}
CONFIG: dict[str, Any] = {
    "backend": "python", "max_batch_size": 4, "dynamic_batching": {},
    "input": [{"name": "A", **NUMBER}, {"name": "B", **NUMBER}, {"name": "C", **NUMBER, "optional": True}],
    "output": [{"name": "NAMES", **NUMBER}],
}  # fmt: skip
MODEL = b"""
import numpy as np
import triton_python_backend_utils as pb
class TritonPythonModel:
    def execute(self, requests):
        counts = [sum(pb.get_input_tensor_by_name(r, name) is not None for name in "ABC") for r in requests]
        return [pb.InferenceResponse([pb.Tensor("NAMES", np.array([[n]], dtype=np.int32))]) for n in counts]
"""

client = triton.InferenceServerClient(GRPC)
client.load_model("inputs", config=json.dumps(CONFIG), files={"file:1/model.py": MODEL})
for names in ("AB", "A", "AC", "C", "ABC"):
    inputs = [triton.InferInput(name, [1, 1], "INT32") for name in names]
    for one in inputs:
        one.set_data_from_numpy(np.zeros((1, 1), dtype=np.int32))
    try:
        said = f"served with {client.infer('inputs', inputs).as_numpy('NAMES')[0][0]} of the three"
    except triton.InferenceServerException as error:
        said = f"refused: {error.message()}"
    print(f"{' and '.join(names)}: {said}")
client.unload_model("inputs")
