"""What becomes of a request that comes after shutdown() of batched's processor."""

import threading
from concurrent.futures import wait

from batched.batch_processor import BatchProcessor

processor = BatchProcessor(lambda items: items, batch_size=4, timeout_ms=0)
print("before:", processor._schedule(["before"])[0].future.result(3))  # what its call does before it waits
processor.shutdown()

late = processor._schedule(["late"])[0].future
wait([late], timeout=3)

print("late:", late.result() if late.done() else "NO ANSWER after 3 s")
print("threads of the processor:", sum("_process_batches" in one.name for one in threading.enumerate()))
