"""The latencies of two versions of batched.aio. Needs batched only, in each interpreter that is named:

    python batched_tail.py OLD/bin/python NEW/bin/python

In turns, five times, each interpreter gets the same requests at the same moments. With `:heap` behind its name, priorities
are switched on, which 0.1.3 and later can: all requests have the same one, and the queue is a heap. A request is overtaken
if a later one enters the model in an earlier batch, which does not depend on how fast the machine is.
"""

import asyncio
import random
import subprocess
import sys
import time
from importlib import metadata

ROUNDS, REQUESTS, BATCH = 5, 2000, 8
BASE_S, ROW_S = 0.008, 0.0005  # what a batch takes
LOAD = 0.9  # of what full batches would serve


async def latencies(seed, heap):
    """Send Poisson arrivals; return all latencies, sorted, and how many requests were overtaken."""
    from batched import aio  # the process that starts the others does not need it

    settings, newest, overtaken = {}, -1, 0
    if heap:
        from batched.types import PriorityStrategy

        settings["priority_strategy"] = PriorityStrategy.PRIORITY

    @aio.dynamically(batch_size=BATCH, timeout_ms=0, **settings)
    def model(items):
        nonlocal newest, overtaken
        overtaken += sum(item < newest for item in items)
        newest = max(newest, *items)
        time.sleep(BASE_S + len(items) * ROW_S)
        return items

    arrivals, at_s, rate = random.Random(seed), 0.0, LOAD * BATCH / (BASE_S + BATCH * ROW_S)
    began = time.monotonic()

    async def one(number, due_s):
        assert await model(number) == number
        return time.monotonic() - due_s

    sent = []
    for number in range(REQUESTS):
        at_s += arrivals.expovariate(rate)
        await asyncio.sleep(max(0.0, began + at_s - time.monotonic()))
        sent.append(asyncio.create_task(one(number, began + at_s)))
    return sorted(await asyncio.gather(*sent)), overtaken


def show(seed, heap):
    """Print one line."""
    found, overtaken = asyncio.run(latencies(seed, heap))
    p50, p99 = (found[int(share * len(found))] for share in (0.5, 0.99))
    mean = sum(found) / len(found)
    told = f"mean {1e3 * mean:5.1f}   p50 {1e3 * p50:5.1f}   p99 {1e3 * p99:6.1f} ms   overtaken {overtaken:4d}"
    print(f"batched {metadata.version('batched')}{' heap' * heap:5}  round {seed}  {told}", flush=True)


if sys.argv[1:2] == ["--round"]:
    show(int(sys.argv[2]), sys.argv[3] == "heap")
else:
    for turn in range(ROUNDS):
        for word in sys.argv[1:] or [sys.executable]:
            python, _, heap = word.partition(":")
            subprocess.run([python, __file__, "--round", str(turn), heap], check=True)
