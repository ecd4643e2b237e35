"""`batchproof lab acceptor-speed`: how many requests the acceptor judges in a second of processor time.

The traffic is simulated: steady traffic of several lengths, and one backlog behind a held instance.
"""

from __future__ import annotations

import gc
import random
import time

from batchproof.fixtures.driving.case import Case, run_case
from batchproof.fixtures.driving.script import MS, Entered, Release, Script, Send
from batchproof.fixtures.judging.acceptor import accept
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.targets.virtual import VirtualTarget

CONFIG = BatcherConfig(max_batch_size=8, instances=2, max_queue_delay_ns=5 * MS)
STEADY = (2_000, 10_000, 20_000)
BACKLOG = 5_000


def steady(count: int) -> Script:
    """Requests of one to four rows that come at random moments, about as many as two instances can serve."""
    draw = random.Random(1)
    return tuple(
        Send(f"r{i}", rows=draw.randint(1, 4), after_ns=round(draw.expovariate(1 / (2 * MS))), work_ns=10 * MS)
        for i in range(count)
    )


def backlog(count: int) -> Script:
    """As many requests that wait at the same time."""
    draw = random.Random(1)
    plugs = [step for name in "ab" for step in (Send(name, hold="gate"), Entered(name))]
    return (*plugs, *(Send(f"r{i}", rows=draw.randint(1, 4), work_ns=MS) for i in range(count)), Release("gate"))


def print_table() -> bool:
    """Print a Markdown table; return whether all of the traffic was accepted, as it must be."""
    print("| traffic | requests | executions | seconds | requests a second |")
    print("|---|---|---|---|---|")
    right = True
    for what, script in (*(("steady", steady(count)) for count in STEADY), ("backlog", backlog(BACKLOG))):
        target = VirtualTarget()
        timeline = run_case(target, Case(CONFIG, script))
        gc.collect()
        gc.freeze()  # or the collector looks at the whole timeline again, whenever it likes
        began = time.process_time()
        acceptance = accept(timeline, target.info.claims)
        took_s = time.process_time() - began
        count = len(timeline.requests)
        print(f"| {what} | {count:,} | {len(timeline.executions):,} | {took_s:.2f} | {count / took_s:,.0f} |")
        for one in (*acceptance.wrong, *acceptance.open)[:1]:
            print(f"not accepted: {one.happened}")
            right = False
    return right
