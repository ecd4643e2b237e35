"""How batched forms batches, on a thread and with asyncio. Needs batched only: python batched_batches.py"""

import asyncio
import time

import batched
from batched import aio


async def tried(what, arrivals_s, work_s=0.0, **settings):
    """Send a request at each of these moments, on both kinds; print when each batch entered the model, and what it held."""
    for kind, decorate in (("thread ", batched.dynamically), ("asyncio", aio.dynamically)):
        seen, began = [], time.monotonic()

        def model(items, seen=seen, began=began):
            seen.append((round(time.monotonic() - began, 2), items))
            time.sleep(work_s)
            return [f"answer {item}" for item in items]

        model = decorate(**settings)(model)
        call = getattr(model, "acall", model)  # the thread's processor has a call for asyncio too

        async def one(name, at_s, call=call):
            await asyncio.sleep(at_s)
            return await call(name) == f"answer {name}"

        right = await asyncio.gather(*(one(name, at) for name, at in enumerate(arrivals_s)))
        print(f"{what}, {kind}: {seen}, {'all' if all(right) else 'not all'} answers right", flush=True)


async def main():
    await tried("8 behind a busy model", [0] + [0.1] * 8, 0.3, batch_size=4, timeout_ms=0)
    await tried("timeout 1 s, first at 0 s, next at 1.7 s", [0, 1.7], batch_size=8, timeout_ms=1000)
    await tried("timeout 2 s, a full batch at 0.1 s", [0] + [0.1] * 3, batch_size=4, timeout_ms=2000)
    await tried("timeout 0.5 s, one behind a busy model", [0, 0.6], 0.6, batch_size=8, timeout_ms=500)
    await tried("timeout 0, one alone", [0], batch_size=8, timeout_ms=0)


asyncio.run(main())
