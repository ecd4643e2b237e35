"""Shows that a request that is cancelled at once may never reach the server, so that its END ends nothing.

    python unsent_end.py [host:grpc_port]

Needs `pip install tritonclient[grpc]` and a Triton with the Python backend and --model-control-mode=explicit. In each
trial, a sequence begins, and a request with END is sent and cancelled. Then a request of the sequence without START is
sent: it is refused if the sequence is over, and answered if it is still open. The model says how many it has seen.
"""

import json
import sys
from collections import Counter

import numpy as np
import tritonclient.grpc as triton
from tritonclient.utils import InferenceServerException

MODEL = b"""
import triton_python_backend_utils as pb
class TritonPythonModel:
    seen = {}
    def execute(self, requests):
        answers = []
        for request in requests:
            id_ = request.correlation_id()
            self.seen[id_] = self.seen.get(id_, 0) + 1
            values = pb.get_input_tensor_by_name(request, "IN").as_numpy()
            answers.append(pb.InferenceResponse([pb.Tensor("OUT", values * 0 + self.seen[id_])]))
        return answers
"""
client = triton.InferenceServerClient(sys.argv[1] if len(sys.argv) > 1 else "localhost:8001")
tensor = {"data_type": "TYPE_INT32", "dims": [1]}
config = {"backend": "python", "max_batch_size": 4, "input": [{"name": "IN", **tensor}],
          "output": [{"name": "OUT", **tensor}], "instance_group": [{"kind": "KIND_CPU", "count": 1}],
          "sequence_batching": {"max_sequence_idle_microseconds": 60000000, "oldest": {"max_candidate_sequences": 64}}}
client.load_model("unsent", config=json.dumps(config), files={"file:1/model.py": MODEL})
values = triton.InferInput("IN", [1, 1], "INT32")
values.set_data_from_numpy(np.zeros((1, 1), np.int32))

found: Counter = Counter()
for sequence in range(1, 41):
    client.infer("unsent", [values], sequence_id=sequence, sequence_start=True)
    client.async_infer("unsent", [values], lambda *_: None, sequence_id=sequence, sequence_end=True).cancel()
    try:
        answer = client.infer("unsent", [values], sequence_id=sequence, sequence_end=True)
        seen = int(answer.as_numpy("OUT")[0, 0])
        found[f"the sequence was open, and the model has seen {seen} of its 3 requests"] += 1
    except InferenceServerException as error:
        found[f"the sequence was over: {str(error)[:60]}"] += 1
client.unload_model("unsent")
for what, count in found.most_common():
    print(f"{count:3} of 40: {what}")
