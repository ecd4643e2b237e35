"""MLServer: who gets the results of what its worker has accepted when the server is stopped with SIGTERM?

A worker has two requests over gRPC and one over HTTP when the server is told to stop. It executes all of them.
Run it in an environment with `mlserver==1.7.1` and `uvloop<0.22`: `python mlserver_stop.py`.
"""

import json
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import grpc
from mlserver.grpc import dataplane_pb2, dataplane_pb2_grpc

MODEL = """
import time
from mlserver import MLModel, types

class Model(MLModel):
    async def predict(self, payload):
        time.sleep(1)
        print(f"the model has executed {payload.inputs[0].data[0]}", flush=True)
        output = types.ResponseOutput(name="y", shape=[1, 1], datatype="INT64", data=payload.inputs[0].data)
        return types.InferenceResponse(model_name="m", outputs=[output])
"""


def over_grpc(number: int) -> str:
    asked = dataplane_pb2.ModelInferRequest(model_name="m")
    given = asked.inputs.add(name="x", datatype="INT64", shape=[1, 1])
    given.contents.int64_contents.append(number)
    with grpc.insecure_channel("127.0.0.1:8768") as channel:
        answer = dataplane_pb2_grpc.GRPCInferenceServiceStub(channel).ModelInfer(asked)
    return str(list(answer.outputs[0].contents.int64_contents))


def over_http(number: int) -> str:
    given = [{"name": "x", "datatype": "INT64", "shape": [1, 1], "data": [number]}]
    url, head = "http://127.0.0.1:8769/v2/models/m/infer", {"Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps({"inputs": given}).encode(), head)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return str(json.load(answer)["outputs"][0]["data"])


def ask(name: str, number: int) -> None:
    began = time.monotonic()
    try:
        told = {"gRPC": over_grpc, "HTTP": over_http}[name](number)
    except (grpc.RpcError, OSError) as error:
        told = repr(error.details() if isinstance(error, grpc.RpcError) else error)
    print(f"{name} request {number}: {told} after {time.monotonic() - began:.0f} s", flush=True)


with tempfile.TemporaryDirectory() as folder:
    ports = {"http_port": 8769, "grpc_port": 8768, "metrics_port": 8767}
    Path(folder, "settings.json").write_text(json.dumps({**ports, "host": "127.0.0.1", "parallel_workers": 1}))
    Path(folder, "model.py").write_text(MODEL)
    Path(folder, "model-settings.json").write_text(json.dumps({"name": "m", "implementation": "model.Model"}))
    process = subprocess.Popen([Path(sys.executable).with_name("mlserver"), "start", folder], stderr=subprocess.DEVNULL)
    time.sleep(12)
    asking = [threading.Thread(target=ask, args=pair) for pair in (("gRPC", 1), ("gRPC", 2), ("HTTP", 3))]
    _ = [thread.start() or time.sleep(0.2) for thread in asking]
    process.terminate()
    _ = [thread.join() for thread in asking]
    print("the server has ended" if process.poll() is not None else "the server is still there")
    process.kill()
