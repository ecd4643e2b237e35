"""Two short fixed workloads that say how fast the host itself is now: one computes, the other wakes threads up.

They have nothing to do with a target. Measured next to it, they say what a difference between two hosts, or between two
moments on one host, can explain: a time is made of waiting, of computing and of waking up, so that it changes by no more
than the greatest of these three does.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from queue import SimpleQueue

TURNS = 20_000  # of the loop that computes: about 1 ms
SLICES = 100
HANDOVERS = 400
WARM_UP = 10
MASK = 0xFFFF_FFFF


@dataclass(frozen=True)
class Yardstick:
    """compute_ns: each execution of the loop; handover_ns: each round trip between two threads. In the order of time."""

    compute_ns: tuple[int, ...]
    handover_ns: tuple[int, ...]


def yardstick() -> Yardstick:
    """Measure both; it takes about 0.2 s."""
    return Yardstick(_computing()[WARM_UP:], _handing_over()[WARM_UP:])


def _computing() -> tuple[int, ...]:
    found = []
    for _ in range(WARM_UP + SLICES):
        start_ns = time.perf_counter_ns()
        _loop()
        found.append(time.perf_counter_ns() - start_ns)
    return tuple(found)


def _loop() -> int:
    """Mix numbers in Python: no memory to speak of, no system call, nothing that a library could make faster."""
    state = 1
    for number in range(TURNS):
        state = (state * 1_664_525 + number) & MASK
    return state


def _handing_over() -> tuple[int, ...]:
    """Hand something to another thread and wait until it comes back."""
    there: SimpleQueue[int] = SimpleQueue()
    back: SimpleQueue[int] = SimpleQueue()
    count = WARM_UP + HANDOVERS

    def answer() -> None:
        for _ in range(count):
            back.put(there.get())

    thread = threading.Thread(target=answer, name="batchproof-yardstick", daemon=True)
    thread.start()
    found = []
    for number in range(count):
        start_ns = time.perf_counter_ns()
        there.put(number)
        back.get()
        found.append(time.perf_counter_ns() - start_ns)
    thread.join()
    return tuple(found)
