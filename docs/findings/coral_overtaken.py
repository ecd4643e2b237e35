"""Shows that a request that does not fit into a batch goes to the end of its bucket (docs/findings.md).

    pip install coral-gpu-inference==0.1.0 && python coral_overtaken.py

Six requests wait while the GPU's queue is full. A batch holds four items.
"""

import asyncio
import queue
from types import SimpleNamespace

import torch
from coral_gpu_inference.batcher import Batcher, TokenBucketManager
from coral_gpu_inference.models import BatchChunk, InferRequest

CONFIG = SimpleNamespace(
    max_batch_size=4, fixed_batch_sizes=[1, 2, 3, 4], max_tokens_per_batch=32768, deadline_wait_ms=50, min_item_delay_ms=5
)
SENT = [("a", 3), ("b", 2), ("c", 2), ("d", 1), ("e", 1), ("f", 1)]


async def main() -> None:
    """Send the requests, take the two batches that keep the GPU busy, and print the next ones."""
    buckets, jobs = TokenBucketManager([16]), queue.Queue()
    batcher = Batcher(CONFIG, buckets, jobs, SimpleNamespace(record_drain=float))
    jobs.put(None)
    jobs.put(None)
    await batcher.start()
    for name, items in SENT:
        ids = torch.zeros(items, 16)
        await buckets.enqueue_chunk(BatchChunk(InferRequest(name, items), ids, ids, items), 16)
    jobs.queue.clear()
    await asyncio.sleep(0.1)
    while not jobs.empty():
        print([(chunk.infer_request.request_id, chunk.num_items) for chunk in jobs.get().chunks])
        await asyncio.sleep(0.1)
    await batcher.stop()


asyncio.run(main())
