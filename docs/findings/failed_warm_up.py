"""Shows that a model whose warm-up fails can end the server (docs/findings.md).

    python failed_warm_up.py [host:grpc_port [loads]]

Needs `pip install tritonclient[grpc]` and a Triton with the Python backend and --model-control-mode=explicit.
Loads a model again and again that raises in `initialize`, and then one that raises for its warm-up sample. Both loads have
to be refused, and the server has to go on.
"""

import json
import sys
from typing import Any

import tritonclient.grpc as triton

GRPC, LOADS = (sys.argv[1:] + ["localhost:8001", "40"][len(sys.argv) - 1 :])[:2]
NUMBER = {"data_type": "TYPE_INT32", "dims": [1]}
CONFIG: dict[str, Any] = {
    "backend": "python", "max_batch_size": 4, "instance_group": [{"kind": "KIND_CPU", "count": 1}],
    "input": [{"name": "IN", **NUMBER}], "output": [{"name": "OUT", **NUMBER}],
}  # fmt: skip
SAMPLE = {"name": "zero", "batch_size": 1, "inputs": {"IN": {**NUMBER, "zero_data": True}}}
RAISES = "class TritonPythonModel:\n    def {}(self, *_):\n        raise RuntimeError('made to fail')\n"
MODELS = {
    "initialize": (CONFIG, RAISES.format("initialize") + "    def execute(self, requests):\n        pass\n"),
    "warm_up": ({**CONFIG, "model_warmup": [SAMPLE]}, RAISES.format("execute")),
}

client = triton.InferenceServerClient(GRPC)
for name, (config, model) in MODELS.items():
    for number in range(1, int(LOADS) + 1):
        try:
            client.load_model(name, config=json.dumps(config), files={"file:1/model.py": model.encode()})
            raise SystemExit("the model was loaded")
        except triton.InferenceServerException as error:
            if error.status() == "StatusCode.UNAVAILABLE":
                raise SystemExit(f"{name}: the server was gone after load {number}: {error.message()}") from None
    print(f"{name}: {LOADS} loads were refused, and the server is live: {client.is_server_live()}")
