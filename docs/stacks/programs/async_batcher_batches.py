"""How async-batcher forms batches. Needs async-batcher only: python async_batcher_batches.py"""

import asyncio
import time

from async_batcher.batcher import AsyncBatcher


class Model(AsyncBatcher):
    def process_batch(self, batch):
        self.seen.append((round(time.monotonic() - self.began, 2), batch))
        time.sleep(self.work_s)
        return [f"answer {item}" for item in batch]


async def tried(what, arrivals_s, work_s=0.0, **settings):
    """Send a request at each of these moments; print when each batch entered the model, and what was in it."""
    model = Model(**settings)
    model.seen, model.work_s, model.began = [], work_s, time.monotonic()

    async def one(name, at_s):
        await asyncio.sleep(at_s)
        return await model.process(name) == f"answer {name}"

    right = await asyncio.gather(*(one(name, at) for name, at in enumerate(arrivals_s)))
    print(f"{what}: {model.seen}, {'all' if all(right) else 'not all'} answers right", flush=True)


async def main():
    await tried("no delay, 9 behind a busy model", [0] + [0.1] * 9, 0.3, max_batch_size=4, max_queue_time=0)
    await tried("delay 0.5 s, one alone", [0], max_batch_size=8, max_queue_time=0.5)
    await tried("delay 0.5 s, a newcomer at 0.45 s", [0, 0.45], max_batch_size=8, max_queue_time=0.5)
    await tried("delay 1 h, four at once", [0] * 4, max_batch_size=4, max_queue_time=3600)
    await tried("delay 0.5 s, one behind a busy model", [0, 0.6], 0.6, max_batch_size=8, max_queue_time=0.5)
    await tried("delay 0.5 s, one 0.2 s behind a busy model", [0, 0.6], 0.3, max_batch_size=8, max_queue_time=0.5)
    await tried("delay 0, one alone", [0], max_batch_size=4, max_queue_time=0)
    await tried("two at once, four requests", [0, 0, 0.01, 0.01], 0.2, max_batch_size=2, max_queue_time=0, concurrency=2)


asyncio.run(main())
