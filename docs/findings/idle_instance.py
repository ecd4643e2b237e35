"""Shows an instance that stands idle while full batches are queued (docs/findings.md, F-2026-03).

    python idle_instance.py [host:grpc_port [host:metrics_port [trials]]]

Each trial sends 13 requests at once. Every batch takes 20 ms in the model, so four executions take little over 80 ms.
"""

import time

import tritonclient.grpc as triton
from partial_batch import GRPC, SETTINGS, TRIALS, load, send

SIZE = {"default_queue_policy": {"max_queue_size": 1000}}
PRIORITY = {"priority_levels": 2, "default_priority_level": 1}


def main() -> None:
    """Try each setting."""
    client = triton.InferenceServerClient(GRPC)
    for name, batching in {**SETTINGS, "no_delay_size": SIZE, "no_delay_priority": PRIORITY}.items():
        load(client, name, batching)
        send(client, name, 0).result(30)
        times = []
        for _ in range(int(TRIALS)):
            start = time.monotonic()
            for future in [send(client, name, 20) for _ in range(13)]:
                future.result(30)
            times.append(round((time.monotonic() - start) * 1000))
        slow = sum(ms > 300 for ms in times)
        print(f"{name:17} {slow} of {TRIALS} trials over 300 ms; ms: {sorted(times)}", flush=True)
        client.unload_model(name)


if __name__ == "__main__":
    main()
