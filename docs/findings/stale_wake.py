"""Shows a batch behind a busy instance that does not grow (docs/findings.md): python stale_wake.py GRPC [trials]."""

import json
import pathlib
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import Future
from typing import Any

import numpy as np
import tritonclient.grpc as triton

DELAY = {"max_queue_delay_microseconds": 50_000}
TIMEOUT = {"default_queue_policy": {"default_timeout_microseconds": 60_000_000}}  # switches prefetch off
SETTINGS: dict[str, tuple[dict[str, Any], int, float, float]] = {  # batching, dims, s between requests, s before the release
    "delay": (DELAY, 1, 0.1, 0.1), "delay_late_release": (DELAY, 1, 0.1, 0.6), "delay_all_within": (DELAY, 1, 0, 0.1),
    "delay_any_shape": (DELAY, -1, 0.1, 0.1), "delay_timeout": (DELAY | TIMEOUT, 1, 0.1, 0.1), "no_delay": ({}, 1, 0.1, 0.1),
}  # fmt: skip
GATE, ENTERED = (pathlib.Path(tempfile.mkdtemp(), name) for name in ("gate", "entered"))
MODEL = f"""import pathlib, time, numpy as np, triton_python_backend_utils as pb
class TritonPythonModel:
    def execute(self, requests):
        if any(pb.get_input_tensor_by_name(r, "PLUG").as_numpy()[0, 0] for r in requests):
            pathlib.Path("{ENTERED}").touch()
            [time.sleep(0.001) for _ in iter(pathlib.Path("{GATE}").exists, True)]
        batch = pb.Tensor("BATCH", np.array([[time.monotonic(), len(requests)]]))
        return [pb.InferenceResponse([batch]) for _ in requests]"""
client = triton.InferenceServerClient(sys.argv[1])
for name, (batching, dims, gap_s, late_s) in SETTINGS.items():
    config: dict[str, Any] = {"backend": "python", "max_batch_size": 4, "dynamic_batching": batching}
    for end, tensor, size in ("input", "PLUG", dims), ("output", "BATCH", 2):
        config[end] = [{"name": tensor, "data_type": "TYPE_FP64", "dims": [size]}]
    config["instance_group"] = [{"kind": "KIND_CPU"}]
    client.load_model(name, config=json.dumps(config), files={"file:1/model.py": MODEL.encode()})
    seen: Counter[tuple[int, ...]] = Counter()
    for _ in range(int([*sys.argv, "20"][2])):
        ENTERED.unlink(missing_ok=True), GATE.unlink(missing_ok=True)
        answers: list[Future[Any]] = [Future() for _ in range(5)]
        for i, answer in enumerate(answers):  # a plug, and four requests
            values = triton.InferInput("PLUG", [1, 1], "FP64").set_data_from_numpy(np.full((1, 1), float(not i)))
            client.async_infer(name, [values], lambda result, error, one=answer: one.set_result(result or error))
            while not ENTERED.exists():
                time.sleep(0.001)
            time.sleep((gap_s if i < 4 else late_s) if i else 0)
        GATE.touch()
        batches = dict(tuple(one.result(30).as_numpy("BATCH")[0]) for one in answers)
        seen[tuple(int(size) for _, size in sorted(batches.items()))] += 1
    print(f"{name}: {dict(seen)}", flush=True)
    client.unload_model(name)
