"""What batched does with requests that are cancelled or fail, that wait while it is shut down, and how busy it is idle."""

import time
from concurrent.futures import wait

from batched.batch_processor import BatchProcessor


def model(items):
    print(f"  in the model: {items}", flush=True)
    time.sleep(0.3)
    if "bad" in items:
        raise RuntimeError("the model failed")
    return items


def told(what, items, then=lambda processor, futures: None, at_s=0.1):
    """Send items behind one that keeps the model busy, do something meanwhile, and print how each ended within 3 s."""
    print(what, flush=True)
    processor = BatchProcessor(model, batch_size=4, timeout_ms=0)
    futures = [processor._schedule(["plug"])[0].future]
    time.sleep(0.1)
    futures += [processor._schedule([item])[0].future for item in items]  # what its call does before it waits
    time.sleep(at_s)
    then(processor, futures)
    wait(futures, timeout=3)
    ends = ("NO ANSWER" if not f.done() else "cancelled" if f.cancelled() else f.exception() or f.result() for f in futures)
    print(f"  ended: {list(ends)}", flush=True)
    processor.shutdown()


told("b is cancelled in the queue", ["a", "b", "c"], lambda _, futures: futures[2].cancel())
told("b is cancelled in the model", ["a", "b", "c"], lambda _, futures: futures[2].cancel(), 0.3)
told("a model that raises", ["a", "bad", "c", "d", "e"])
told("shutdown() while three wait", ["a", "b", "c"], lambda processor, _: processor.shutdown())
processor = BatchProcessor(model, timeout_ms=0)
processor.start()
before = time.process_time()
time.sleep(2)
print(f"timeout_ms=0, no request for 2 s: {time.process_time() - before:.1f} s of processor time")
