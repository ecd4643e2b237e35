"""In-process batchers that people install from PyPI, each behind the same two verbs: `submit(item)` and `close()`.

Where a peer's public call would burden it with what a server does not need (a thread for each caller, a Future for each
Future), the adapter goes one layer below, so that what is measured is the batcher. Each docstring says where.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from typing import Any, Protocol

from batchproof.load.workload import Skipped

Items = Callable[[list[Any]], list[Any]]  # a model as these batchers call it: the items of a batch -> an answer for each
WAIT_S = 30.0


class Peer(Protocol):
    """A batcher that is up."""

    def submit(self, item: Any) -> Future[Any]:
        """Queue an item; returns at once."""
        ...

    def close(self) -> None:
        """End it and its threads."""
        ...


@dataclass(frozen=True)
class Kind:
    """A peer that may be installed. needs: its distribution. spins: at a delay of 0 it turns in a loop without sleeping."""

    name: str
    needs: str
    make: Callable[[Items, int, int], Peer]
    spins: bool = False

    def version(self) -> str:
        """Return its version; Skipped if it is not installed."""
        try:
            return metadata.version(self.needs)
        except metadata.PackageNotFoundError:
            raise Skipped(f"{self.name}: '{self.needs}' is not installed (pip install {self.needs})") from None

    def open(self, model: Items, max_batch: int, delay_ns: int) -> Peer:
        """Start it; Skipped says why that is not possible here."""
        self.version()
        try:
            return self.make(model, max_batch, delay_ns)
        except (ImportError, AttributeError, TypeError) as error:  # their inside is not ours: another version may differ
            raise Skipped(f"{self.name} {self.version()}: cannot be driven in process: {error!r}") from error


class Batched:
    """`batched` (mixedbread): its queue and thread. Its call blocks, so items are scheduled as that call does it."""

    def __init__(self, model: Items, max_batch: int, delay_ns: int) -> None:
        from batched.batch_processor import BatchProcessor

        self._processor = BatchProcessor(model, batch_size=max_batch, timeout_ms=delay_ns / 1e6)
        self._schedule = self._processor._schedule  # noqa: SLF001 - see above

    def submit(self, item: Any) -> Future[Any]:
        """Queue."""
        future: Future[Any] = self._schedule([item])[0].future
        return future

    def close(self) -> None:
        """End."""
        self._processor.shutdown()


class OnLoop:
    """A batcher for asyncio: `call(item)` is a coroutine function of its loop, which runs on a thread of its own.

    Who submits on the loop's thread, as a client does that sends when it was answered, starts a task and wakes nobody; only
    others take the loop's slower way in.
    """

    def __init__(self, make: Callable[[Any], Callable[[Any], Any]]) -> None:
        self.pool = ThreadPoolExecutor(1)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="peer-loop", daemon=True)
        self._thread.start()
        self._tasks: set[asyncio.Task[Any]] = set()
        try:
            self._call = asyncio.run_coroutine_threadsafe(self._made(make), self._loop).result(WAIT_S)
        except BaseException:
            self.close()
            raise

    async def _made(self, make: Callable[[Any], Callable[[Any], Any]]) -> Callable[[Any], Any]:
        return make(self)

    def submit(self, item: Any) -> Future[Any]:
        """Queue."""
        future: Future[Any] = Future()
        if threading.current_thread() is self._thread:
            self._start(item, future)
        else:
            self._loop.call_soon_threadsafe(self._start, item, future)
        return future

    def _start(self, item: Any, future: Future[Any]) -> None:
        task = self._loop.create_task(self._call(item))
        self._tasks.add(task)  # a loop holds its tasks weakly

        def settle(done: asyncio.Task[Any]) -> None:
            self._tasks.discard(done)
            if done.cancelled():
                future.cancel()
            elif error := done.exception():
                future.set_exception(error)
            else:
                future.set_result(done.result())

        task.add_done_callback(settle)

    def close(self) -> None:
        """End: tasks, loop, thread, pool."""
        asyncio.run_coroutine_threadsafe(self._cancelled(), self._loop).result(WAIT_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(WAIT_S)
        self._loop.close()
        self.pool.shutdown()

    async def _cancelled(self) -> None:
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)


def async_batcher(model: Items, max_batch: int, delay_ns: int) -> Peer:
    """`async-batcher`: its `process`; the model on its executor, of one thread."""
    from async_batcher.batcher import AsyncBatcher

    def make(home: OnLoop) -> Callable[[Any], Any]:
        class Adapter(AsyncBatcher):  # type: ignore[misc,type-arg,unused-ignore]
            def process_batch(self, batch: list[Any]) -> list[Any]:
                return model(batch)

        batcher = Adapter(max_batch_size=max_batch, max_queue_time=delay_ns / 1e9, executor=home.pool)
        return batcher.process  # type: ignore[no-any-return,unused-ignore]

    return OnLoop(make)


def ray_serve(model: Items, max_batch: int, delay_ns: int) -> Peer:
    """Ray Serve's `@serve.batch`, without a cluster: it asks only for a replica's context, which is set up here."""
    from ray import serve
    from ray.serve import context
    from ray.serve._private.common import DeploymentID, ReplicaID
    from ray.serve._private.config import DeploymentConfig
    from ray.serve.schema import ReplicaRank

    name = ReplicaID("batchproof", DeploymentID("batchproof"))
    settings = DeploymentConfig(max_ongoing_requests=1_000_000)
    context._set_internal_replica_context(  # noqa: SLF001 - its own tests do so
        replica_id=name,
        servable_object=model,
        _deployment_config=settings,
        rank=ReplicaRank(rank=0, node_rank=0, local_rank=0),
        world_size=1,
    )

    def make(home: OnLoop) -> Callable[[Any], Any]:
        async def call(items: list[Any]) -> list[Any]:
            return await asyncio.get_running_loop().run_in_executor(home.pool, model, items)

        batched: Callable[[Any], Any] = serve.batch(max_batch_size=max_batch, batch_wait_timeout_s=delay_ns / 1e9)(call)
        return batched

    return OnLoop(make)


class LitServeLoop:
    """LitServe's `BatchedLoop`, as its worker runs it, on a thread: queues of this process in place of its pipes."""

    def __init__(self, model: Items, max_batch: int, delay_ns: int) -> None:
        from litserve import LitAPI
        from litserve.callbacks import CallbackRunner
        from litserve.loops import BatchedLoop
        from litserve.loops.base import _SENTINEL_VALUE

        class Api(LitAPI):  # type: ignore[misc]
            def predict(self, x: list[Any]) -> list[Any]:
                return model(x)

            def batch(self, inputs: Any) -> list[Any]:
                return list(inputs)

            def unbatch(self, output: Any) -> Any:
                return output

        self._end = _SENTINEL_VALUE
        self._queue: queue.SimpleQueue[Any] = queue.SimpleQueue()
        api = Api(max_batch_size=max_batch, batch_timeout=delay_ns / 1e9)
        api.pre_setup(None)
        api.request_timeout = False
        loop = BatchedLoop()
        run = partial(loop.run_batched_loop, api, self._queue, self, CallbackRunner())
        self._thread = threading.Thread(target=run, name="peer-litserve", daemon=True)
        self._thread.start()

    def submit(self, item: Any) -> Future[Any]:
        """Queue: the Future itself is the request's id."""
        future: Future[Any] = Future()
        self._queue.put((0, future, 0.0, item))
        return future

    def send(self, item: Any, consumer_id: int) -> None:  # noqa: ARG002 - its transport's signature
        """Take an answer from the loop."""
        future, (data, status, *_) = item
        if getattr(status, "value", status) == "OK":
            future.set_result(data)
        else:
            future.set_exception(RuntimeError(f"LitServe: {status}"))

    def close(self) -> None:
        """End."""
        self._queue.put(self._end)
        self._thread.join(WAIT_S)


KINDS = (
    Kind("batched", "batched", Batched, spins=True),
    Kind("async-batcher", "async-batcher", async_batcher),
    Kind("ray-serve", "ray", ray_serve),
    Kind("litserve-loop", "litserve", LitServeLoop, spins=True),
)
