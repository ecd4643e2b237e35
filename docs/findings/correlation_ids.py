"""Shows what becomes of correlation IDs that are strings (docs/findings.md, F-2026-32 and F-2026-33).

    python correlation_ids.py [host:grpc_port]

Needs `pip install tritonclient[grpc]` and a Triton with the Python backend and --model-control-mode=explicit. The model
returns the correlation ID that it is told. The last part ends the server; it needs the word `overflow` after the address.
"""

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import tritonclient.grpc as triton

MODEL = b"""
import time
import numpy as np
import triton_python_backend_utils as pb
class TritonPythonModel:
    def execute(self, requests):
        time.sleep(%g)
        told = [pb.get_input_tensor_by_name(request, "CORRID").as_numpy().ravel()[0] for request in requests]
        return [pb.InferenceResponse([pb.Tensor("TOLD", np.array([[str(one).encode()]], object))]) for one in told]
"""
client = triton.InferenceServerClient(sys.argv[1] if len(sys.argv) > 1 else "localhost:8001")


def load(type_: str, slots: int = 1, seconds: float = 0) -> None:
    """Load the model with correlation IDs of this type, so many slots, and executions that take so long."""
    control = {"name": "CORRID", "control": [{"kind": "CONTROL_SEQUENCE_CORRID", "data_type": type_}]}
    config = {"backend": "python", "max_batch_size": slots,
              "input": [{"name": "IN", "data_type": "TYPE_INT32", "dims": [1]}],
              "output": [{"name": "TOLD", "data_type": "TYPE_STRING", "dims": [1]}],
              "instance_group": [{"kind": "KIND_CPU", "count": 1}],
              "sequence_batching": {"direct": {}, "control_input": [control]}}
    client.load_model("ids", config=json.dumps(config), files={"file:1/model.py": MODEL % seconds})


def told(id_: str | int, *, start: bool = True, end: bool = True) -> str:
    """Return what the model is told if this ID is sent, or the error."""
    values = triton.InferInput("IN", [1, 1], "INT32")
    values.set_data_from_numpy(np.array([[7]], np.int32))
    try:
        answer = client.infer("ids", [values], sequence_id=id_, sequence_start=start, sequence_end=end, client_timeout=10)
    except triton.InferenceServerException as error:
        return str(error)
    return "told " + repr(answer.as_numpy("TOLD")[0, 0])[:60]


print("The model's IDs are strings:")
load("TYPE_STRING")
for length in (1, 8, 100, 124, 128, 129):
    print(f"  {length:>3} characters: {told('x' * length)}")
print("Two sequences in slots of one batch, and executions of 0.3 s:")
load("TYPE_STRING", slots=4, seconds=0.3)
print(f"  the first alone: {told('a' * 128, end=False)}")
with ThreadPoolExecutor() as pool:
    running = pool.submit(told, "a" * 128, start=False, end=False)
    time.sleep(0.1)
    first = pool.submit(told, "a" * 128, start=False, end=False)
    time.sleep(0.05)
    second = pool.submit(told, "b" * 128, end=False)
    print(f"  both in one batch: {first.result()}, {second.result()}")
print(f"  the second alone: {told('b' * 128, start=False)}")
print("The model's IDs are strings, and it has four slots:")
load("TYPE_STRING", slots=4)
with ThreadPoolExecutor() as pool:  # each of these begins and does not end, so each has a slot of its own
    for answer in pool.map(lambda letter: told(letter * 128, end=False), "abcd"):
        print(f"  128 characters: {answer}")
load("TYPE_STRING")
print("The model's IDs are strings, and a number is sent:")
for number in (5, 1 << 40):
    print(f"  {number}: {told(number)}")
print("The model's IDs are strings, after one of 125 characters:")
for length in (125, 128):
    print(f"  {length:>3} characters: {told('x' * length)}")
for type_ in ("TYPE_UINT64", "TYPE_INT32"):
    print(f"The model's IDs are {type_}:")
    load(type_)
    for id_ in ("abc", "x") if type_ == "TYPE_UINT64" else ((1 << 32) + 5,):
        print(f"  {id_!r}: {told(id_)}")
if "overflow" in sys.argv:
    print("Strings of 128 characters, written into 8 bytes:")
    load("TYPE_UINT64")
    for number in range(1000):
        answer = told("x" * 128)
        if number < 1 or "told" not in answer:
            print(f"  {number}: {answer}")
        if "failed to connect" in answer or "Socket closed" in answer:
            break
