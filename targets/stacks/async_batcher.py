"""Target `async-batcher`: the witness as the model of an `AsyncBatcher`, on an event loop in this process.

docs/stacks/async-batcher.md says what the claims mean.
"""

from __future__ import annotations

from concurrent.futures import Future
from importlib import metadata
from typing import Any

from async_batcher.batcher import AsyncBatcher
from async_batcher.exceptions import QueueFullException

from batchproof.reference_batcher import BatcherConfig
from batchproof.targets import Kind, Request, Response, TargetInfo, Unsupported, relay
from batchproof.targets.kit import Counted, Folder, Loop, Pool, Witnesses, cancel


class Model(AsyncBatcher):  # type: ignore[misc,type-arg,unused-ignore]
    """The witness. It blocks, as most models do, so async-batcher runs it on its executor."""

    def process_batch(self, batch: list[Any]) -> Any:
        """Run one batch: a list of tensors, one for each request -> a list of (echo, info)."""
        return self.execute(batch)


class AsyncBatcherDeployment:
    """One batcher on a loop of its own. A request is counted as queued until its batch is in the model."""

    def __init__(self, config: BatcherConfig | None = None) -> None:
        if config and (config.queue_timeout_ns or config.max_batch_size < 2):
            raise Unsupported("queue_timeout" if config.queue_timeout_ns else "smallest_batch")
        self.folder, self.loop, self.pool = Folder(), Loop(), Pool(config.instances if config else 1)
        self.witnesses = Witnesses(self.folder.path)
        self.counted = Counted(self.witnesses)
        self.log, self.release, self.queued, self.cancel = self.folder.log, self.folder.release, self.folder.queued, cancel
        self.batcher = self.loop.call(self._made, config)
        self.batcher.execute = self.counted.execute

    def _made(self, config: BatcherConfig | None) -> Model:
        return Model() if config is None else Model(
            max_batch_size=config.max_batch_size,
            max_queue_time=config.max_queue_delay_ns / 1e9,
            concurrency=config.instances,
            max_queue_size=config.max_queue_size or -1,
            executor=self.pool,
        )

    def submit(self, request: Request) -> Future[Response]:
        """Send the payload from a task of its own, as a handler of a web server would."""
        return relay(self.loop.submit(self._answered(request.tensor())), lambda answer: Response(*answer), kind_of)

    async def _answered(self, tensor: Any) -> Any:
        with self.counted.waiting(tensor):
            return await self.batcher.process(tensor)

    def close(self) -> None:
        """Stop as documented: what is queued is still served."""
        self.loop.submit(self.batcher.stop())

    def finish(self) -> None:
        """End the loop, the model's threads and the logs."""
        self.loop.close()
        self.pool.close()
        self.witnesses.close()
        self.counted.close()
        self.folder.remove()


def kind_of(error: BaseException) -> Kind:
    """Classify an error of async-batcher; all others are the model's."""
    if isinstance(error, QueueFullException):
        return Kind.FULL
    return Kind.CLOSED if "Batcher is stopped" in str(error) else Kind.FAILED


class AsyncBatcherTarget:
    """The installed async-batcher."""

    info = TargetInfo("async-batcher", metadata.version("async-batcher"), "async-batcher", claims={
        "delay": True, "delay_anchor": "oldest-enqueue", "smallest_batch": 2, "max_queue_size": True, "instances": True,
        "close": True, "counts_results": True,
        "defaults": True, "default_delay_ms": 10})  # fmt: skip
    deploys_at_once = 8
    deploy = deploy_defaults = AsyncBatcherDeployment
