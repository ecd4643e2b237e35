"""The server's half: KServe V2 over gRPC, and the witness as its model: `example_server.py PORT BATCH_SIZE DELAY_S`.

Batchproof starts it in a process of its own, where `batchproof_witness` is on the path.
"""

import sys
from concurrent.futures import ThreadPoolExecutor

import grpc
import numpy as np
from batchproof_witness import Counted, Witnesses
from example_batcher import Batcher
from tritonclient.grpc import service_pb2 as v2
from tritonclient.grpc import service_pb2_grpc as v2_grpc

counted = Counted(Witnesses())
batcher = Batcher(counted.execute, int(sys.argv[2]), float(sys.argv[3]))


class Service(v2_grpc.GRPCInferenceServiceServicer):
    """One model, `witness`: input IN, outputs OUT and INFO."""

    def ModelReady(self, request, context):
        """Be ready."""
        return v2.ModelReadyResponse(ready=True)

    def ModelInfer(self, request, context):
        """Count the request as soon as the batcher has queued it, and answer when the batcher does."""
        tensor = np.frombuffer(request.raw_input_contents[0], np.int64).reshape(request.inputs[0].shape)
        future = counted.track(int(tensor[0, 0]), batcher.submit(tensor))
        context.add_callback(future.cancel)
        try:
            echo, info = future.result()
        except Exception as error:
            context.abort(grpc.StatusCode.INTERNAL, str(error))
        answer = v2.ModelInferResponse(model_name=request.model_name, raw_output_contents=[echo.tobytes(), info.tobytes()])
        answer.outputs.add(name="OUT", datatype="INT64", shape=echo.shape)
        answer.outputs.add(name="INFO", datatype="INT64", shape=info.shape)
        return answer


if __name__ == "__main__":
    server = grpc.server(ThreadPoolExecutor(512))  # of requests that wait at once
    v2_grpc.add_GRPCInferenceServiceServicer_to_server(Service(), server)
    server.add_insecure_port(f"127.0.0.1:{sys.argv[1]}")
    server.start()
    server.wait_for_termination()
