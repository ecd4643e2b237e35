"""Shows that batched-queue's thread ends for good, and that callers get no answer (docs/findings.md).

    pip install batched-queue==0.1.3 && python batched_queue_ends.py

The last of the three cases is a race of threads: how soon it is seen depends on the host.
"""

import sys
import threading
import time
from collections.abc import Callable

from batched_queue.queue import BatchedQueue

threading.excepthook = lambda error: print(f"    the thread ended with {error.exc_type.__name__}: {error.exc_value}")


def asked(queue: BatchedQueue, item: int) -> str:
    """Return the answer to an item, or how long there was none."""
    try:
        return repr(queue.process([item], timeout=1))
    except TimeoutError:
        return "no answer in 1 s"


def divided(items: list[int]) -> list[float]:
    """Divide 12 by each: 0 makes the whole batch fail."""
    return [12 / item for item in items]


def without_first(items: list[int]) -> list[int]:
    """Leave out one result."""
    return items[1:]


def told(title: str, function: Callable[[list[int]], list[float]], items: list[int]) -> None:
    """Say what becomes of these items, one after another."""
    print(title)
    queue = BatchedQueue(function, batch_max_size=4)
    queue.start()
    for item in items:
        print(f"    {item}: {asked(queue, item)}")
    queue.stop()


def crowded() -> None:
    """Let eight threads ask at once, again and again, until one is not answered."""
    print("eight threads at once")
    sys.setswitchinterval(1e-5)
    queue = BatchedQueue(lambda items: items, batch_max_size=4)
    queue.start()
    answers: list[str] = []

    def ask() -> None:
        while "no answer in 1 s" not in answers and time.monotonic() < end:
            answers.append(asked(queue, 1))

    end = time.monotonic() + 20
    threads = [threading.Thread(target=ask) for _ in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    print(f"    {len(answers)} items, of which {answers.count('no answer in 1 s')} were not answered")
    queue.stop()


if __name__ == "__main__":
    told("a function that raises", divided, [3, 0, 4])
    told("a result too few", without_first, [3])
    crowded()
