"""The server's half of the target `mlserver`: `mlserver_server.py HTTP_PORT GRPC_PORT BATCH DELAY_S INSTANCES`.

With nothing but the ports, nothing else is set.

It runs where MLServer is installed, and Batchproof need not be.
"""

import asyncio
import sys

import numpy as np
from batchproof_witness import COLUMNS, Counted, Witnesses
from mlserver import MLModel, MLServer, ModelSettings, Settings
from mlserver.handlers import DataPlane
from mlserver.types import InferenceResponse, MetadataTensor, ResponseOutput

COUNTED = Counted()


class WitnessModel(MLModel):
    """The witness, in each worker. The batcher hands it one tensor with the rows of all its requests."""

    async def load(self):
        """Open the log."""
        self.witness = Counted(Witnesses())
        return True

    async def predict(self, payload):
        """Run one batch. It blocks its worker, as the runtimes that come with MLServer do."""
        given = payload.inputs[0]
        merged = np.array(given.data.root, dtype=np.int64).reshape(given.shape)
        outputs = [
            ResponseOutput(name=name, datatype="INT64", shape=list(rows.shape), data=rows.ravel().tolist())
            for name, rows in zip(("OUT", "INFO"), self.witness.execute_rows(merged), strict=True)
        ]
        return InferenceResponse(model_name=self.name, outputs=outputs)


class Counting(DataPlane):
    """Counts a request from when the HTTP or gRPC side hands it over: nothing is awaited before it is in the queue."""

    async def infer(self, payload, name, version=None):
        """Answer it."""
        with COUNTED.waiting([payload.inputs[0].data.root]):
            return await super().infer(payload, name, version)


async def main(http, grpc, server, batching):
    """Serve until SIGINT. The metrics have a fixed port unless they are off, and there may be several servers here."""
    settings = Settings(host="127.0.0.1", http_port=http, grpc_port=grpc, metrics_endpoint=None, **server)
    rows = MetadataTensor(name="IN", datatype="INT64", shape=[-1, len(COLUMNS)])
    model = ModelSettings(name="witness", implementation="mlserver_server.WitnessModel", inputs=[rows], **batching)
    await MLServer(settings).start([model])


if __name__ == "__main__":
    sys.modules["mlserver.server"].DataPlane = Counting
    http, grpc, *asked = sys.argv[1:]
    server, batching = {}, {}
    if asked:
        server = {"parallel_workers": int(asked[2]), "debug": False}
        batching = {"max_batch_size": int(asked[0]), "max_batch_time": float(asked[1])}
    asyncio.run(main(int(http), int(grpc), server, batching))
