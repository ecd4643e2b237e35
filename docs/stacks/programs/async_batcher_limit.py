"""How many requests async-batcher lets wait: max_queue_size=2, behind a busy model and on an idle one."""

import asyncio
import time

from async_batcher.batcher import AsyncBatcher


class Model(AsyncBatcher):
    def process_batch(self, batch):
        time.sleep(0.3)
        return batch


async def tried(what, plug, **settings):
    """Send six requests, one every 20 ms, and print who was refused."""
    model = Model(max_batch_size=8, max_queue_size=2, **settings)
    tasks = [asyncio.create_task(model.process("plug"))] if plug else []
    for name in range(6):
        await asyncio.sleep(0.02)
        tasks.append(asyncio.create_task(model.process(name)))
    ends = await asyncio.gather(*tasks, return_exceptions=True)
    print(f"{what}: {[type(end).__name__ if isinstance(end, Exception) else end for end in ends]}", flush=True)
    await model.stop()


async def main():
    await tried("behind a busy model", plug=True, max_queue_time=0)
    await tried("idle, delay 0.5 s", plug=False, max_queue_time=0.5)


asyncio.run(main())
try:
    Model(max_batch_size=1)
except ValueError as error:
    print(f"max_batch_size=1: {error}")
