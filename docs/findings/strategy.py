"""Shows what Triton does with a batching strategy (docs/findings.md): python strategy.py GRPC. It needs a C compiler.

The library travels with the load request, so the server has to run on a machine of the same kind.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time
from concurrent.futures import Future
from typing import Any

import numpy as np
import tritonclient.grpc as triton

HERE, FOLDER = pathlib.Path(__file__).parent, pathlib.Path(tempfile.mkdtemp())
LIBRARY, GATE, ENTERED = (FOLDER / name for name in ("batchstrategy.so", "gate", "entered"))
MODEL = f"""import pathlib, time, numpy as np, triton_python_backend_utils as pb
class TritonPythonModel:
    def execute(self, requests):
        volumes = [int(pb.get_input_tensor_by_name(r, "VOLUME").as_numpy()[0, 0]) for r in requests]
        if volumes == [0]:
            pathlib.Path("{ENTERED}").touch()
            [time.sleep(0.001) for _ in iter(pathlib.Path("{GATE}").exists, True)]
        batch = pb.Tensor("BATCH", np.array([[time.monotonic(), sum(volumes)]]))
        return [pb.InferenceResponse([batch]) for _ in requests]"""
subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-w", "-o", str(LIBRARY), str(HERE / "strategy.c")], check=True)  # noqa: S607
client = triton.InferenceServerClient(sys.argv[1])
POLICY = {"default_queue_policy": {"max_queue_size": 100}}  # switches prefetch off


def load(name: str, batching: dict[str, Any]) -> None:
    """Load a model with the strategy."""
    config: dict[str, Any] = {"backend": "python", "max_batch_size": 8, "dynamic_batching": batching}
    config["input"] = [{"name": "VOLUME", "data_type": "TYPE_INT64", "dims": [1]}]
    config["output"] = [{"name": "BATCH", "data_type": "TYPE_FP64", "dims": [2]}]
    config["instance_group"] = [{"kind": "KIND_CPU"}]
    files = {"file:1/model.py": MODEL.encode(), "file:1/batchstrategy.so": LIBRARY.read_bytes()}
    client.load_model(name, config=json.dumps(config), files=files)


def send(name: str, volume: int) -> Future[Any]:
    """Send a request of this volume."""
    answer: Future[Any] = Future()
    values = triton.InferInput("VOLUME", [1, 1], "INT64").set_data_from_numpy(np.array([[volume]]))
    client.async_infer(name, [values], lambda result, error: answer.set_result(result or error))
    time.sleep(0.05)
    return answer


for setting, batching in {"no policy": {}, "a queue limit, so no prefetch": POLICY}.items():
    for path in (GATE, ENTERED):
        path.unlink(missing_ok=True)
    load("grows", batching)
    answers = [send("grows", 0)]  # holds the instance
    while not ENTERED.exists():
        time.sleep(0.001)
    answers += [send("grows", 64) for _ in range(6)]
    GATE.touch()
    sums = sorted({tuple(one.result(30).as_numpy("BATCH")[0]) for one in answers[1:]})
    print(f"six requests of 64 behind a busy instance, {setting}: batches of {[int(sum_) for _, sum_ in sums]}", flush=True)
    client.unload_model("grows")
    time.sleep(1)

for word, volume in (("is refused", 64), ("can join", 16)):
    load("waits", {"max_queue_delay_microseconds": 3_000_000})
    send("waits", 0).result(30)  # the first call of a model is slow
    began = time.monotonic()
    first, second = send("waits", 64), send("waits", volume)
    first.result(30)
    took_s = time.monotonic() - began
    print(f"delay 3 s, a request of 64 and one that {word}: the first is answered after {took_s:.2f} s", flush=True)
    second.result(30)
    client.unload_model("waits")

load("blocks", {})
began = time.monotonic()
above, behind = send("blocks", 97), send("blocks", 1)
time.sleep(1)
print(f"a request above the limit, and one behind it: answered after 1 s: {above.done()}, {behind.done()}", flush=True)
above.result(60), behind.result(60)
print(f"answered after {time.monotonic() - began:.1f} s, when the library had given in after ten million offers", flush=True)
client.unload_model("blocks")
