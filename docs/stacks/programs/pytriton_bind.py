"""What PyTriton does when a model does not load: pytriton_bind.py [lax]. LD_LIBRARY_PATH as for pytriton_batches.py."""

import logging
import os
import subprocess
import sys
import time

import numpy as np
from pytriton.decorators import batch
from pytriton.model_config import DynamicBatcher, ModelConfig, Tensor
from pytriton.triton import Triton, TritonConfig


@batch
def infer(x):
    return {"y": x}


def bind(name, functions, **batcher):
    began, sides = time.monotonic(), [Tensor(name=side, dtype=np.int64, shape=(1,)) for side in "xy"]
    config = ModelConfig(max_batch_size=4, batcher=DynamicBatcher(**batcher))
    try:
        triton.bind(name, [infer] * functions, sides[:1], sides[1:], config=config)
        said = "bound"
    except Exception as error:  # noqa: BLE001
        said = f"{type(error).__name__} {str(error).strip().partition(chr(10))[0][:120]}"
    print(f"{name}, {functions} functions: {said} after {time.monotonic() - began:.1f} s", flush=True)


logging.basicConfig(level=logging.CRITICAL)
busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * (os.cpu_count() or 1))]
with Triton(config=TritonConfig(http_address="127.0.0.1", strict_readiness="lax" not in sys.argv)) as triton:
    for number in range(5):
        bind(f"several{number}", 4)
    _ = [one.kill() for one in busy]
    bind("broken", 1, preferred_batch_size=[9])  # more than max_batch_size, so Triton does not load it
    bind("fine", 1)
