"""Simulates a configuration under a schedule: what the virtual-time shell does, without Futures, tensors and answers.

Two paths behind one function. The general one asks the real core (`DynamicBatcher`), and only when its answer can have
changed. The quick one computes a whole batch at once, for configurations with nothing but a size, a delay and instances and
requests of one row. Both do what `VirtualBatcher` does under the same schedule, to the nanosecond.

Of one moment: what ends comes before what arrives (a batch that is done, then a delay that is over, then arrivals, one
after another, each of which may leave at once). So a request that arrives in the nanosecond in which a delay ends misses
that batch.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

from .config import BatcherConfig
from .simulated import NEVER, Ints, Line, Simulated, assemble

__all__ = ["NEVER", "Simulated", "plain", "simulate", "simulate_closed"]


def plain(config: BatcherConfig) -> bool:
    """Return whether the quick path knows this configuration: a size, a delay, instances and nothing else that decides."""
    policy = config.default_queue_policy
    preferred = set(config.preferred_batch_size) - {config.max_batch_size}
    limited = policy.queue_timeout_ns or policy.max_queue_size
    return not (preferred or limited or config.priority_levels or config.response_cache)


def simulate(
    config: BatcherConfig,
    due_ns: Sequence[int] | Ints,
    tau_ns: Sequence[int],
    *,
    rows: Sequence[int] | None = None,
    priorities: Sequence[int] | None = None,
    timeouts_ns: Sequence[int] | None = None,
    quick: bool = True,
) -> Simulated:
    """Let n requests arrive at `due_ns` (int64 [n], ascending) at a batcher whose batch of b rows takes tau_ns[b].

    tau_ns: indexed by rows, 0 to max_batch_size; place 0 is not used, all others are at least 1 ns. rows, priorities,
    timeouts_ns: of each request, as `Batcher.submit` takes them (None: 1, 0 and 0). quick=False: always ask the core.
    The batcher is not closed at the end: the last batch waits for its delay. ValueError for what cannot be simulated.
    """
    due = np.asarray(due_ns, dtype=np.int64)
    _check(config, due, tau_ns, rows, priorities, timeouts_ns)
    if quick and plain(config) and rows is None and timeouts_ns is None:
        return _quick(config, due, tau_ns)
    line = Line(config, tau_ns, due.size, rows, priorities, timeouts_ns)
    for number, when_ns in enumerate(due.tolist()):
        if line.next_ns <= when_ns:
            line.until(when_ns)
        line.arrive(number, when_ns)
    line.until(NEVER - 1)
    return line.result(due)


def simulate_closed(
    config: BatcherConfig, clients: int, requests: int, tau_ns: Sequence[int], *, answers_first: bool = False
) -> Simulated:
    """Let `clients` send one request each at 0, and the next when the last is settled, until `requests` were sent.

    Requests are numbered in the order in which they are sent. tau_ns and ValueError as for `simulate`.

    answers_first: clients send again before their batch's instance is free, as those do that send in a callback of a
    `VirtualBatcher`. Else the instance takes its next batch first, as in the threaded shell and on a server: two cohorts
    alternate. It matters where clients are fewer than two full batches of every instance.
    """
    if clients < 1 or requests < clients:
        raise ValueError(f"closed loop of {clients} clients and {requests} requests: at least 1, and one request each")
    due = np.zeros(requests, dtype=np.int64)
    _check(config, due, tau_ns)
    line = Line(config, tau_ns, requests, answers_first=answers_first)
    sent, idle, sending = 0, 0, False

    def send(settled: int) -> None:
        nonlocal sent, idle, sending
        idle += settled
        if sending:  # one of those that are being sent was refused: its client's turn comes in the loop below
            return
        sending = True
        while idle and sent < requests:
            number, idle, sent = sent, idle - 1, sent + 1
            due[number] = line.now_ns
            line.arrive(number, line.now_ns)
        sending = False

    line.settled = send
    send(clients)
    line.until(NEVER - 1)
    return line.result(due)


def _check(config: BatcherConfig, due: Ints, tau_ns: Sequence[int], *each: Sequence[int] | None) -> None:
    if config.response_cache:
        raise ValueError("a response cache depends on what is asked, which is not simulated")
    if len(tau_ns) <= config.max_batch_size or min(tau_ns[1 : config.max_batch_size + 1]) < 1:
        raise ValueError(f"tau_ns must hold at least 1 ns for each of 1 to {config.max_batch_size} rows")
    if due.ndim != 1 or (due.size and (due[0] < 0 or np.any(np.diff(due) < 0))):
        raise ValueError("due_ns must ascend from 0 or more")
    for one in each:
        if one is not None and len(one) != due.size:
            raise ValueError(f"{len(one)} values for {due.size} requests")


def _quick(config: BatcherConfig, due_ns: Ints, tau_ns: Sequence[int]) -> Simulated:
    """A batch at a time: who is there when an instance is free, and whom it waits for."""
    due, count = due_ns.tolist(), due_ns.size
    largest, delay_ns = config.max_batch_size, config.max_queue_delay_ns
    free = [0] * config.instances  # when each instance is free, as a heap
    starts, sizes = [], []
    head = 0
    while head < count:
        oldest_ns, free_ns = due[head], free[0]
        if free_ns > oldest_ns:  # a batch ends: all that came before it are there
            start_ns, end = free_ns, bisect_left(due, free_ns, head + 1, min(head + largest, count))
        else:  # an instance is idle: the first that comes is alone, even if more come in the same nanosecond
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
    formed, ends = np.asarray(starts, dtype=np.int64), np.asarray(sizes, dtype=np.int64)
    taus = np.asarray(tau_ns[: largest + 1], dtype=np.int64)
    return assemble(config, due_ns, np.arange(count), formed, formed + taus[ends], ends, ends)
