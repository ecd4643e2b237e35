"""How punctual is the load generator on this machine? `batchproof lab punctuality --rate 20000 --seconds 5 [--busy 1]`.

Prints the send lag with a target that answers at once, and with the reference batcher on a model that does nothing. Each run
is VALID or INVALID like any other. `--busy` adds threads of pure Python, which compete for the interpreter's lock.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from typing import Any

import numpy as np

from batchproof.host.clock import HostClock
from batchproof.load.closed_loop import Submit
from batchproof.load.out_of_process import open_loop_apart
from batchproof.load.runs import Run, open_loop
from batchproof.load.schedule import Schedule, poisson
from batchproof.reference_batcher import Batcher, BatcherConfig
from batchproof.stats.percentile import percentiles

WAIT_NS = 5_000_000_000
PERCENTS = (50.0, 99.0, 99.9)


def answers_at_once(number: int) -> Future[int]:
    """Return a Future that is settled already."""
    future: Future[int] = Future()
    future.set_result(number)
    return future


@contextlib.contextmanager
def null() -> Iterator[Submit]:
    """The floor: what the generator itself costs."""
    yield answers_at_once


@contextlib.contextmanager
def reference() -> Iterator[Submit]:
    """The reference batcher on a model that does nothing, up to 64 rows a batch."""
    row = np.zeros((1, 1), np.float32)
    with Batcher(lambda rows: rows, BatcherConfig(max_batch_size=64)) as batcher:
        yield lambda _number: batcher.submit(row)


TARGETS = {"null": null, "reference": reference}


@contextlib.contextmanager
def busy(threads: int) -> Iterator[None]:
    """Compute in Python on this number of threads."""
    stop = threading.Event()

    def spin() -> None:
        while not stop.is_set():
            sum(range(100))

    for _ in range(threads):
        threading.Thread(target=spin, daemon=True).start()
    try:
        yield
    finally:
        stop.set()


def measure(name: str, schedule: Schedule, *, threads: int = 0, apart: bool = False) -> Run:
    """Load one of TARGETS."""
    with TARGETS[name]() as submit, busy(threads):
        if apart:
            return open_loop_apart(submit, schedule, wait_ns=WAIT_NS)
        return open_loop(submit, HostClock(), schedule, wait_ns=WAIT_NS)


def line(name: str, run: Run) -> str:
    """Return what is printed about a run."""
    told = [
        f"{what} {_us(values)}" for what, values in (("send lag", run.samples.lag_ns), ("latency", run.samples.latency_ns))
    ]
    others = f"other processes used {run.host['other_cores']:.2f} cores" if "other_cores" in run.host else ""
    return f"{name:10} {run.throughput:9.0f} answers/s  {'  '.join(told)}  {others}\n{'':10} {run.validity}"


def _us(values_ns: Any) -> str:
    values = percentiles(values_ns, PERCENTS)
    return " ".join(f"p{percent:g} {value / 1e3:.1f}" for percent, value in zip(PERCENTS, values, strict=True)) + " us"


def print_lag(
    names: Sequence[str] = tuple(TARGETS),
    *,
    rate: float = 20_000,
    seconds: float = 5,
    seed: int = 1,
    threads: int = 0,
    apart: bool = False,
) -> bool:
    """Measure each of TARGETS that is named, and print; return whether all runs are valid.

    rate: requests/s. threads: threads of pure Python that compete with it. apart: whether it has a process of its own.
    ScheduleError: no such load can be played.
    """
    schedule = poisson(rate, seconds, seed)
    valid = []
    for name in names:
        run = measure(name, schedule, threads=threads, apart=apart)
        print(line(name, run), flush=True)
        valid.append(run.valid)
    return all(valid)
