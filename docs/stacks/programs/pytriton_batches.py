"""How Triton behind PyTriton forms batches. Needs nvidia-pytriton, and LD_LIBRARY_PATH with this Python's libpython."""

import logging
import time

import numpy as np
import tritonclient.grpc as grpc
from pytriton.decorators import batch
from pytriton.model_config import DynamicBatcher, ModelConfig, QueuePolicy, Tensor
from pytriton.triton import Triton, TritonConfig


@batch
def model(x):  # 0 keeps the model busy, and 99 fails
    print(f"  {time.monotonic() - began:.1f} s: {x[:, 0].tolist()} in the model", flush=True)
    time.sleep(0.6 if 0 in x else 0.05)
    return {"y": x if 99 not in x else 1 // 0}


logging.disable()
plug, delay = (0, 0, 1), {"max_queue_delay_microseconds": 500_000}
policy = {"default_queue_policy": QueuePolicy(default_timeout_microseconds=200_000, max_queue_size=3)}
here = dict.fromkeys(("http_address", "grpc_address", "metrics_address"), "127.0.0.1")
with Triton(config=TritonConfig(http_port=18200, grpc_port=18201, metrics_port=18202, **here)) as triton:
    x, y = (Tensor(name=one, dtype=np.int64, shape=(1,)) for one in "xy")
    for name, batcher, arrivals in (  # [number, at s, rows] each
            ("backlog", {}, [plug, *((one, 0.1 + one / 50, 1) for one in (1, 2, 3, 4, 5, 6, 99, 8, 9))]),
            ("rows", {}, [plug, (1, 0.1, 3), (2, 0.2, 3), (3, 0.3, 5)]),
            ("delay", delay, [(1, 0, 1), (2, 0.4, 1), *((one, 2, 1) for one in (3, 4, 5, 6))]),
            ("policy", policy, [plug, *((one, 0.1, 1) for one in (1, 2, 3, 4, 5, 6))])):  # fmt: skip
        triton.bind(name, model, [x], [y], config=ModelConfig(max_batch_size=4, batcher=DynamicBatcher(**batcher)))
        print(name, batcher, flush=True)
        client, began = grpc.InferenceServerClient("127.0.0.1:18201"), time.monotonic()
        for number, at_s, rows in arrivals:
            time.sleep(max(0, began + at_s - time.monotonic()))
            tensor = grpc.InferInput("x", [rows, 1], "INT64")
            tensor.set_data_from_numpy(np.full((rows, 1), number))
            client.async_infer(name, [tensor], lambda result, error, one=number: print(f"  {one}: {error or result!s:.80}"))
        time.sleep(3)
