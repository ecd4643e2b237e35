"""async-batcher: when the model comes free, a request that has just come may leave at once, without any queue delay."""

import asyncio
import time

from async_batcher.batcher import AsyncBatcher

START = time.monotonic()


class Slow(AsyncBatcher):
    async def process_batch(self, batch):
        print(f"{time.monotonic() - START:.2f} s: in the model: {batch}")
        await asyncio.sleep(1.0 if "busy" in batch else 0)
        return batch


async def late(batcher, seconds, name):
    await asyncio.sleep(seconds)
    await batcher.process(name)


async def main():
    batcher = Slow(max_batch_size=8, max_queue_time=0.5, concurrency=1)
    # "busy" is in the model from 0.5 s to 1.5 s. "a" is queued at 1.4 s, and "b" follows 0.2 s later.
    await asyncio.gather(late(batcher, 0, "busy"), late(batcher, 1.4, "a"), late(batcher, 1.6, "b"))
    await batcher.stop()


asyncio.run(main())
