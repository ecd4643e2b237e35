"""The server's half of the target `kserve`: `kserve_server.py HTTP_PORT INSTANCES`.

With nothing but the port, nothing else is set. gRPC is off, because its port would be a fixed one.

It runs where KServe's Python SDK is installed, and Batchproof need not be.
"""

import sys

from batchproof_witness import Counted, Witnesses
from kserve import InferOutput, InferResponse, Model, ModelServer
from kserve.utils.utils import generate_uuid


class WitnessModel(Model):
    """The witness. There is one in each worker process."""

    def __init__(self, name):
        super().__init__(name)
        self.witness, self.ready = Counted(Witnesses()), True

    def predict(self, payload, headers=None, response_headers=None):
        """Run one request: nothing forms batches. It blocks the event loop, as the models in KServe's documentation do."""
        outputs = []
        for name, rows in zip(("OUT", "INFO"), self.witness.execute_rows(payload.inputs[0].as_numpy()), strict=True):
            output = InferOutput(name, list(rows.shape), "INT64")
            output.set_data_from_numpy(rows, binary_data=False)
            outputs.append(output)
        return InferResponse(generate_uuid(), self.name, outputs)


if __name__ == "__main__":
    port, *workers = map(int, sys.argv[1:])
    sys.argv = sys.argv[:1]
    asked = {"workers": workers[0]} if workers else {}
    ModelServer(http_port=port, enable_grpc=False, **asked).start([WitnessModel("witness")])
