"""The simulator's quick path: the dynamic batcher's next batch, computed from the arrivals without asking the core.

This is the one place outside `core` that states when a batch leaves. It does so only where that is a formula: a size, a
delay and a number of instances, and requests of one row without a queue timeout. It is kept because `tune`, the oracle and
the theory simulate many millions of requests of exactly this kind, and it is ten to forty times as fast as the core. A
property in the selftests compares the two to the nanosecond, on random configurations and arrivals.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

from .config import BatcherConfig
from .simulated_run import Ints, SimulatedRun, simulated_run


def has_closed_form(config: BatcherConfig) -> bool:
    """Return whether nothing but a size, a delay and instances decides when a batch leaves."""
    policy = config.default_queue_policy
    preferred = set(config.preferred_batch_size) - {config.max_batch_size}
    limited = policy.queue_timeout_ns or policy.max_queue_size
    return not (preferred or limited or config.priority_levels or config.response_cache)


def batch_by_batch(config: BatcherConfig, due_ns: Ints, tau_ns: Sequence[int]) -> SimulatedRun:
    """Simulate requests of one row: who is there when an instance is free, and for whom the batch then waits."""
    due, count = due_ns.tolist(), due_ns.size
    largest, delay_ns = config.max_batch_size, config.max_queue_delay_ns
    free = [0] * config.instances  # when each instance is free, as a heap
    starts, sizes = [], []
    head = 0
    while head < count:
        oldest_ns, free_ns = due[head], free[0]
        if free_ns > oldest_ns:  # a batch ends: all that came before that are there
            start_ns, end = free_ns, bisect_left(due, free_ns, head + 1, min(head + largest, count))
        else:  # an instance is idle: the first to come is alone, even if more come in the same nanosecond
            start_ns, end = oldest_ns, head + 1
        if end < head + largest and start_ns < oldest_ns + delay_ns:
            start_ns = oldest_ns + delay_ns
            end = bisect_left(due, start_ns, end, min(head + largest, count))
            if end == head + largest:  # full before the delay is over
                start_ns = due[end - 1]
        size = end - head
        heapq.heapreplace(free, start_ns + tau_ns[size])
        starts.append(start_ns)
        sizes.append(size)
        head = end
    formed, rows = np.asarray(starts, dtype=np.int64), np.asarray(sizes, dtype=np.int64)
    ends = formed + np.asarray(tau_ns[: largest + 1], dtype=np.int64)[rows]
    return simulated_run(due_ns, np.arange(count), formed, ends, rows, rows, ordered=config.preserve_ordering)
