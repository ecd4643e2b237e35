"""Simulates a configuration under a schedule: what the virtual-time shell does, without Futures, tensors and answers.

The general path runs the core itself, in an `EventLoop`. Where a configuration has a closed form, the quick path computes a
whole batch at once. Both do what `VirtualBatcher` does under the same schedule, to the nanosecond.

Within one moment, what ends comes before what arrives: first a batch that is done, then a delay that is over, then the
arrivals one after another, each of which may leave at once. So a request that arrives in the nanosecond in which a delay
ends misses that batch.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .closed_form import batch_by_batch, has_closed_form
from .config import BatcherConfig
from .decisions import Entry
from .disciplines import core_of
from .event_loop import EventLoop
from .protocol import Core
from .simulated_run import NEVER, Ints, SimulatedRun

__all__ = ["NEVER", "SimulatedRun", "has_closed_form", "simulate", "simulate_closed"]


def simulate(
    config: BatcherConfig,
    due_ns: Sequence[int] | Ints,
    tau_ns: Sequence[int],
    *,
    rows: Sequence[int] | None = None,
    priorities: Sequence[int] | None = None,
    timeouts_ns: Sequence[int] | None = None,
    core: Core | None = None,
    quick: bool = True,
) -> SimulatedRun:
    """Let n requests arrive at `due_ns` (int64 [n], ascending) at a batcher whose batch of b rows takes tau_ns[b].

    tau_ns: indexed by rows, 0 to max_batch_size; place 0 is not used, all others are at least 1 ns. rows, priorities,
    timeouts_ns: of each request, as `Batcher.submit` takes them (None: 1, 0 and 0). core: a fresh core to run in place of
    the one that the configuration asks for. quick=False: use a core even where there is a closed form.
    The batcher is not closed at the end: the last batch waits for its delay. ValueError for what cannot be simulated.
    """
    due = np.asarray(due_ns, dtype=np.int64)
    _check(config, due, tau_ns, rows, priorities, timeouts_ns)
    if quick and core is None and has_closed_form(config) and rows is None and timeouts_ns is None:
        return batch_by_batch(config, due, tau_ns)
    loop = _loop(config, core, tau_ns)
    count, times = due.size, due.tolist()
    each = zip(times, rows or [1] * count, priorities or [0] * count, timeouts_ns or [0] * count, strict=True)
    for number, (when_ns, size, priority, timeout_ns) in enumerate(each):
        if loop.next_ns <= when_ns:
            loop.until(when_ns)
        loop.arrive(Entry(size, when_ns, number, priority, timeout_ns))
    loop.until(NEVER - 1)
    return loop.result(due)


def simulate_closed(
    config: BatcherConfig,
    clients: int,
    requests: int,
    tau_ns: Sequence[int],
    *,
    core: Core | None = None,
    answers_first: bool = False,
) -> SimulatedRun:
    """Let `clients` send one request each at 0, and the next when the last is settled, until `requests` were sent.

    Requests are numbered in the order in which they are sent. tau_ns, core and ValueError as for `simulate`.

    answers_first: clients send again before their batch's instance is free, as clients do that send in a callback of a
    `VirtualBatcher`. Otherwise the instance takes its next batch first, as in the threaded shell and on a server: two
    cohorts alternate. This matters where there are fewer clients than two full batches for every instance.
    """
    if clients < 1 or requests < clients:
        raise ValueError(f"closed loop of {clients} clients and {requests} requests: needs a client, and a request for each")
    due = np.zeros(requests, dtype=np.int64)
    _check(config, due, tau_ns)
    loop = _loop(config, core, tau_ns, answers_first=answers_first)
    sent, idle, sending = 0, 0, False

    def send(settled: int) -> None:
        nonlocal sent, idle, sending
        idle += settled
        if sending:  # a request was refused while it was sent: its client's turn comes in the loop below
            return
        sending = True
        while idle and sent < requests:
            number, idle, sent = sent, idle - 1, sent + 1
            due[number] = loop.now_ns
            loop.arrive(Entry(1, loop.now_ns, number))
        sending = False

    loop.settled = send
    send(clients)
    loop.until(NEVER - 1)
    return loop.result(due)


def _loop(config: BatcherConfig, core: Core | None, tau_ns: Sequence[int], *, answers_first: bool = False) -> EventLoop:
    core = core_of(config) if core is None else core
    return EventLoop(core, tau_ns, ordering=config.preserve_ordering, answers_first=answers_first)


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
