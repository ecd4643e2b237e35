"""When async-batcher answers requests that wait for company if stop() is called after 0.1 s. Needs async-batcher only."""

import asyncio
import time

from async_batcher.batcher import AsyncBatcher


class Model(AsyncBatcher):
    def process_batch(self, batch):
        return batch


async def tried(delay_s):
    model, began = Model(max_batch_size=8, max_queue_time=delay_s), time.monotonic()
    tasks = [asyncio.create_task(model.process(item)) for item in "ab"]
    await asyncio.sleep(0.1)
    stopped = asyncio.create_task(model.stop())
    await asyncio.sleep(0.1)
    newcomer = await asyncio.gather(model.process("c"), return_exceptions=True)
    await asyncio.wait([*tasks, stopped], timeout=10)
    ends = [task.result() if task.done() else "NO ANSWER" for task in tasks]
    print(f"max_queue_time={delay_s}: {ends} at {time.monotonic() - began:.1f} s; c: {newcomer}", flush=True)


asyncio.run(tried(3))
asyncio.run(tried(3600))
