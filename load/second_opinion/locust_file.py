"""The file that Locust loads, in its master and in each of its workers. It imports gevent: never import it anywhere else.

One user a worker sends that worker's share of a schedule, which each worker makes anew from the schedule's text, so that
nothing but the text and a start time travels. Requests are sent when they are due, however many are under way; we keep the
times in ns, as Locust rounds to a millisecond. The transport is tritonclient: gRPC with grpc's own gevent loop, or HTTP,
whose client is built on gevent.
"""

from __future__ import annotations

import gc
import io
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gevent
import numpy as np
from gevent.event import AsyncResult
from gevent.pool import Pool
from locust import User, events, task
from locust.exception import StopUser
from locust.runners import MasterRunner, WorkerRunner

from batchproof.load.samples import OUTCOMES, Samples
from batchproof.load.schedule import Schedule, parse
from batchproof.load.second_opinion.locust_run import ORDER, Order, samples_file
from batchproof.load.spread.shares import share
from batchproof.stats.arrays import NEVER
from batchproof.targets.triton.wire import refusal

READY, START, STORE = "batchproof-ready", "batchproof-start", "batchproof-store"
LEAD_S = 0.3  # from the master's word to the first request: every worker has heard it by then
ours = Order.from_json(os.environ[ORDER])
CONNECTIONS = 128  # over HTTP, each request under way needs one
began: Any = AsyncResult()
ready: set[int] = set()
stored: set[int] = set()


class Sender(User):
    """One a worker: its share of the schedule."""

    @task
    def send(self) -> None:
        """Connect, wait for the master's word, send, hand the samples in, and stop."""
        runner: Any = self.environment.runner
        index = runner.worker_index
        infer = _client(client_api)
        infer(0)  # connects; the first call is slow
        runner.send_message(READY, {"index": index})
        start_ns = time.monotonic_ns() + began.get(timeout=ours.start_s) - time.time_ns()
        samples = send_share(ours, plan, index, start_ns, infer, self.environment.events.request.fire)
        file = io.BytesIO()
        samples.save(file)
        runner.send_message(STORE, {"index": index, "npz": file.getvalue()})
        raise StopUser


def send_share(
    order: Order, schedule: Schedule, index: int, start_ns: int, infer: Callable[[int], None], fire: Callable[..., None]
) -> Samples:
    """Send what is this worker's at its due times after start_ns (monotonic) and return the samples, in that order."""
    numbers = share(schedule.count, order.workers, index)
    mine = schedule.due_ns[numbers]
    sent, done = np.full(len(mine), NEVER, dtype=np.int64), np.full(len(mine), NEVER, dtype=np.int64)
    outcome = np.full(len(mine), OUTCOMES.index("unanswered"), dtype=np.uint8)

    def one(place: int, number: int) -> None:
        sent[place] = time.monotonic_ns() - start_ns
        error: Exception | None = None
        try:
            infer(number)
        except Exception as raised:
            error = raised
        done_ns = time.monotonic_ns() - start_ns
        if closed:
            return  # too late: the samples are on their way
        done[place] = done_ns
        outcome[place] = OUTCOMES.index("answered" if error is None else refusal(error).kind.value)
        took_ms = (done_ns - int(mine[place])) / 1e6
        fire(request_type=order.wire, name="infer", response_time=took_ms, response_length=0, exception=error)

    closed = False
    pool = Pool()
    gc.collect()
    gc.freeze()
    for place, number, due_ns in list(zip(range(len(mine)), numbers.tolist(), mine.tolist(), strict=True)):
        left_ns = start_ns + due_ns - time.monotonic_ns()
        gevent.sleep(max(0, left_ns) / 1e9)  # also when it is late, as nothing else runs otherwise
        pool.spawn(one, place, number)
    pool.join(timeout=order.wait_s)
    closed = True
    pool.kill(block=False)
    return Samples(mine.copy(), sent, done, outcome, np.full(len(mine), index, dtype=np.int32))


def _client(api: Any) -> Callable[[int], None]:
    """Return what sends one request and waits for its answer; the calling greenlet alone waits."""
    if ours.wire == "grpc":
        client: Any = api.InferenceServerClient(ours.address)
        given = {"client_timeout": ours.wait_s}
    else:
        client = api.InferenceServerClient(ours.address, concurrency=CONNECTIONS, network_timeout=ours.wait_s)
        given = {}
    row = np.array([ours.row], dtype=np.int64)

    def infer(number: int) -> None:
        payload = row.copy()
        payload[0, 0] = number + 1
        tensor = api.InferInput(ours.tensor, list(payload.shape), "INT64")
        tensor.set_data_from_numpy(payload)
        client.infer(ours.model, [tensor], **given)

    return infer


def _api() -> Any:
    """Import the client, before there is a master that waits for heartbeats."""
    if ours.wire == "http":
        import tritonclient.http as over_http

        return over_http
    import tritonclient.grpc as over_grpc
    from grpc.experimental import gevent as grpc_gevent

    grpc_gevent.init_gevent()  # else a call blocks every greenlet of the process
    return over_grpc


client_api = _api() if "--worker" in sys.argv else None
plan = parse(ours.schedule)


@events.init.add_listener
def _meet(environment: Any, **_: Any) -> None:
    runner = environment.runner
    if isinstance(runner, MasterRunner):
        runner.register_message(READY, _ready)
        runner.register_message(STORE, _store)
    elif isinstance(runner, WorkerRunner):
        runner.register_message(START, _begin)


def _ready(environment: Any, msg: Any, **_: Any) -> None:
    """Say when to start, as soon as all are connected; by the wall clock, as workers may be on other machines."""
    ready.add(int(msg.data["index"]))
    if len(ready) == ours.workers:
        environment.runner.send_message(START, {"at_wall_ns": time.time_ns() + round(LEAD_S * 1e9)})


def _begin(msg: Any, **_: Any) -> None:
    began.set(int(msg.data["at_wall_ns"]))


def _store(environment: Any, msg: Any, **_: Any) -> None:
    """Keep a worker's samples; with the last ones the run is over."""
    index = int(msg.data["index"])
    samples_file(Path(ours.into), index).write_bytes(msg.data["npz"])
    stored.add(index)
    if len(stored) == ours.workers:
        gevent.spawn(environment.runner.quit)
