"""What async-batcher does with requests that are cancelled, fail, or wait while it stops. Needs async-batcher only."""

import asyncio
import logging
import time

from async_batcher.batcher import AsyncBatcher


class Model(AsyncBatcher):
    def process_batch(self, batch):
        print(f"  in the model: {batch}", flush=True)
        time.sleep(0.3)
        if "bad" in batch:
            raise RuntimeError("the model failed")
        return batch


async def told(what, items, then=lambda model, tasks: None, at_s=0.1):
    model = Model(max_batch_size=4, max_queue_time=0)
    print(what, flush=True)  # and how each ends that waits behind one that keeps the model busy
    tasks = [asyncio.create_task(model.process("plug"))]
    await asyncio.sleep(0.05)
    tasks += [asyncio.create_task(model.process(item)) for item in items]
    await asyncio.sleep(at_s)
    then(model, tasks)
    await asyncio.wait(tasks, timeout=3)
    ends = ("NO ANSWER" if not t.done() else "cancelled" if t.cancelled() else t.exception() or t.result() for t in tasks)
    print(f"  ended: {list(ends)}", flush=True)


async def main():
    logging.disable()
    await told("b is cancelled in the queue", ["a", "b", "c"], lambda _, tasks: tasks[2].cancel())
    await told("b is cancelled in the model", ["a", "b", "c"], lambda _, tasks: tasks[2].cancel(), 0.4)
    await told("a model that raises", ["a", "bad", "c", "d", "e"])
    await told("stop() while three wait", ["a", "b", "c"], lambda model, _: asyncio.ensure_future(model.stop()))


asyncio.run(main())
