"""Shows a request that waits far longer than the queue delay on an idle model (docs/findings.md).

    python late_wake.py [host:grpc_port [trials]]

Needs `pip install tritonclient[grpc]` and a Triton with the Python backend and --model-control-mode=explicit.
The queue delay is 100 ms and the model is idle, so each request should be answered after 100 ms.
Each trial first has one request that leaves the queue without being executed: it times out, or its client cancels it.
Then `next` is sent, and `after` when `next` is answered.
The last setting does this only once, before all trials. In the last two settings, requests may wait for 300 ms.
"""

import json
import sys
import time
from collections import Counter
from typing import Any

import numpy as np
import tritonclient.grpc as triton

GRPC, TRIALS = (sys.argv[1:] + ["localhost:8001", "10"][len(sys.argv) - 1 :])[:2]
DELAY: dict[str, Any] = {"max_queue_delay_microseconds": 100_000}
LONG: dict[str, Any] = {"default_timeout_microseconds": 10_000_000, "allow_timeout_override": True}
SHORT: dict[str, Any] = {"default_timeout_microseconds": 300_000, "allow_timeout_override": True}
SETTINGS: dict[str, tuple[dict[str, Any], str]] = {
    "nothing_before": (DELAY, ""),
    "cancelled_before": (DELAY, "cancel"),
    "timed_out_before": ({**DELAY, "default_queue_policy": LONG}, "timeout"),
    "timed_out_before_any_shape": ({**DELAY, "default_queue_policy": LONG}, "timeout"),
    "300_ms": ({**DELAY, "default_queue_policy": SHORT}, ""),
    "300_ms_timed_out_once": ({**DELAY, "default_queue_policy": SHORT}, "timeout once"),
}
MODEL = b"""
import triton_python_backend_utils as pb
class TritonPythonModel:
    def execute(self, requests):
        return [pb.InferenceResponse([pb.Tensor("OUT", pb.get_input_tensor_by_name(r, "IN").as_numpy())]) for r in requests]
"""


def tensor() -> Any:
    """Return an input of one row."""
    one = triton.InferInput("IN", [1, 1], "INT32")
    one.set_data_from_numpy(np.zeros((1, 1), dtype=np.int32))
    return one


def infer(client: Any, name: str, **options: Any) -> tuple[int, str]:
    """Send a request; return the ms until its answer, and the answer."""
    start, said = time.monotonic(), "answered"
    try:
        client.infer(name, [tensor()], **options)
    except triton.InferenceServerException as error:
        said = error.message()
    return round((time.monotonic() - start) * 1000), said


def leave(client: Any, name: str, how: str) -> None:
    """Let one request come and go."""
    if "timeout" in how:
        infer(client, name, timeout=20_000)
    if "cancel" in how:
        call = client.async_infer(name, [tensor()], lambda **_: None)
        time.sleep(0.05)
        call.cancel()
        time.sleep(0.1)  # the delay is over, and the server has seen that nobody waits


def main() -> None:
    """Try each setting."""
    client = triton.InferenceServerClient(GRPC)
    print("Triton", client.get_server_metadata().version)
    print("expected: next and after are answered after 100 ms")
    for name, (batching, how) in SETTINGS.items():
        dims = [-1] if "any_shape" in name else [1]
        config = {
            "name": name,
            "backend": "python",
            "max_batch_size": 4,
            "dynamic_batching": batching,
            "input": [{"name": "IN", "data_type": "TYPE_INT32", "dims": dims}],
            "output": [{"name": "OUT", "data_type": "TYPE_INT32", "dims": dims}],
            "instance_group": [{"kind": "KIND_CPU", "count": 1}],
        }
        client.load_model(name, config=json.dumps(config), files={"file:1/model.py": MODEL}, client_timeout=60)
        infer(client, name)
        time.sleep(0.02)
        if "once" in how:
            leave(client, name, how)
        seen: dict[str, list[tuple[int, str]]] = {"next": [], "after": []}
        for _ in range(int(TRIALS)):
            if "300_ms" not in name:
                time.sleep(0.7)
                leave(client, name, how)
            for answers in seen.values():
                time.sleep(0.02)  # the instance waits for work again
                answers.append(infer(client, name))
        for one, answers in seen.items():
            late = sum(ms > 200 for ms, _ in answers)
            said = dict(Counter(said for _, said in answers))
            print(f"{name}: {one} late in {late} of {TRIALS} trials, {said}, ms {sorted(ms for ms, _ in answers)}")
        sys.stdout.flush()
        client.unload_model(name)


if __name__ == "__main__":
    main()
