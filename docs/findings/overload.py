"""Shows what a limited queue costs under overload (docs/findings.md, F-2026-12).

    python overload.py [host:grpc_port [host:metrics_port [seconds]]]

It sends twice as many requests as the model can serve, with and without max_queue_size. Every batch of up to 4 rows takes
40 ms in the model, so its capacity is 100 rows a second.
"""

import sys
import time
from concurrent.futures import Future
from typing import Any

import tritonclient.grpc as triton
from partial_batch import GRPC, load, send

SECONDS = float((sys.argv[3:] or ["5"])[0])
WORK_MS, CAPACITY = 40, 100
SETTINGS: dict[str, dict[str, Any]] = {
    "unlimited": {},
    "limited_8": {"default_queue_policy": {"max_queue_size": 8}},
    "limited_16": {"default_queue_policy": {"max_queue_size": 16}},
}


def offer(client: Any, name: str) -> tuple[list[float], float]:
    """Offer twice the capacity; return when each answer came, in seconds, and when the last request was sent."""
    start, answered, sent = time.monotonic(), list[float](), list[Future[Any]]()

    def note(done: Future[Any]) -> None:
        if isinstance(done.result(), tuple):  # else it was refused
            answered.append(time.monotonic() - start)

    for number in range(int(2 * CAPACITY * SECONDS)):
        time.sleep(max(0.0, start + number / (2 * CAPACITY) - time.monotonic()))
        sent.append(send(client, name, WORK_MS))
        sent[-1].add_done_callback(note)
    end = time.monotonic() - start
    for future in sent:
        future.result(60)
    return answered, end


def main() -> None:
    """Try each setting."""
    client = triton.InferenceServerClient(GRPC)
    for name, batching in SETTINGS.items():
        load(client, name, batching)
        send(client, name, 0).result(30)
        answered, end = offer(client, name)
        served = sum(at <= end for at in answered)
        tenths = [sum(0.1 * place <= at < 0.1 * (place + 1) for at in answered) for place in range(int(10 * end))]
        print(f"{name:10} {served / end:3.0f} rows/s of {CAPACITY}; answers in each 100 ms: {tenths}", flush=True)
        client.unload_model(name)


if __name__ == "__main__":
    main()
