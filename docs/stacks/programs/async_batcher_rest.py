"""async-batcher: what a full batch leaves behind waits for a whole max_queue_time again, however long it has waited."""

import asyncio
import time

from async_batcher.batcher import AsyncBatcher

START = time.monotonic()


class Slow(AsyncBatcher):
    async def process_batch(self, batch):
        print(f"{time.monotonic() - START:.2f} s: in the model: {batch}")
        await asyncio.sleep(2.0 if "busy" in batch else 0)
        return batch


async def late(batcher, name):
    await asyncio.sleep(1.0)
    await batcher.process(name)


async def main():
    batcher = Slow(max_batch_size=4, max_queue_time=0.5, concurrency=1)
    # "busy" is in the model from 0.5 s to 2.5 s. Six more are queued at 1.0 s: all of them are late by then.
    await asyncio.gather(batcher.process("busy"), *(late(batcher, name) for name in "abcdef"))
    await batcher.stop()


asyncio.run(main())
