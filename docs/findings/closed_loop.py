"""Measures what partial batches cost under a steady load (docs/findings.md, F-2026-02).

    python closed_loop.py [host:grpc_port [host:metrics_port [clients ...]]]

Each client sends its next request when the last one is answered, for 3 s. Every batch takes 20 ms in the model.
"""

import sys
import threading
import time

import tritonclient.grpc as triton
from partial_batch import GRPC, SETTINGS, load, send

SECONDS, WORK_MS = 3.0, 20
CLIENTS = [int(word) for word in sys.argv[3:]] or [9, 10, 12, 16]


def main() -> None:
    """Try each setting with several numbers of clients."""
    client = triton.InferenceServerClient(GRPC)
    for name, batching in SETTINGS.items():
        load(client, name, batching)
        for clients in CLIENTS:
            before = client.get_inference_statistics(name).model_stats[0]
            stop = time.monotonic() + SECONDS
            threads = [threading.Thread(target=loop, args=(client, name, stop)) for _ in range(clients)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            after = client.get_inference_statistics(name).model_stats[0]
            rows, runs = (after.inference_count - before.inference_count), (after.execution_count - before.execution_count)
            print(f"{name:16} {clients} clients: mean batch {rows / runs:.2f}, {rows / SECONDS:.0f} requests/s", flush=True)
        client.unload_model(name)


def loop(client: triton.InferenceServerClient, name: str, stop: float) -> None:
    """Be one client."""
    while time.monotonic() < stop:
        send(client, name, WORK_MS).result(30)


if __name__ == "__main__":
    main()
