"""Shows how long an item waits that comes while flushq flushes (docs/findings.md).

    pip install flushq==0.2.2 && python flushq_age.py

It needs Python 3.12 or later.
"""

import asyncio
import time

from flushq import FlushQueue, IntervalPolicy

WAIT_S, FLUSH_S = 1.0, 1.0
put: dict[str, float] = {}


async def flush(batch: list[str]) -> None:
    """Print the age of each item, and be busy for a second."""
    ages = ", ".join(f"{item}: {time.monotonic() - put[item]:.1f} s" for item in batch)
    print(f"flushed after max_wait_seconds = {WAIT_S}: {ages}")
    await asyncio.sleep(FLUSH_S)


async def main() -> None:
    """Put one item, and another one as soon as the first is being flushed."""
    async with FlushQueue(flush, IntervalPolicy(WAIT_S, 100)) as queue:
        for item, pause in (("first", WAIT_S + 0.05), ("second", 2.5)):
            put[item] = time.monotonic()
            await queue.enqueue(item)
            await asyncio.sleep(pause)


asyncio.run(main())
