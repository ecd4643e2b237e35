"""Targets `batched` and `batched-aio`: the witness as a function that `batched` calls, on its thread or with asyncio.

docs/stacks/batched.md says what the claims mean.
"""

from __future__ import annotations

from concurrent.futures import Future
from importlib import metadata
from typing import Any

from batched.aio.batch_processor import AsyncBatchProcessor
from batched.batch_processor import BatchProcessor

from batchproof.reference_batcher import BatcherConfig
from batchproof.targets import Kind, Request, Response, TargetInfo, Unsupported, relay
from batchproof.targets.kit import Counted, Folder, Loop, Witnesses, cancel

CLAIMS = {
    "delay": True,
    "delay_anchor": "loop-entry",
    "counts_results": True,
    "side_by_side": False,  # it never stops looking for requests
    "defaults": True,
    "default_batch": 32,
    "default_delay_ms": 5,
}


def settings(config: BatcherConfig) -> dict[str, Any]:
    """Return the configuration in batched's words."""
    asked = {
        "instances": config.instances > 1,
        "queue_timeout": config.queue_timeout_ns,
        "max_queue_size": config.max_queue_size,
    }
    if lacking := [name for name, wanted in asked.items() if wanted]:
        raise Unsupported(lacking[0])
    return {"batch_size": config.max_batch_size, "timeout_ms": config.max_queue_delay_ns / 1e6}


class BatchedDeployment:
    """`@batched.dynamically`, without the call of a caller's thread for each request."""

    def __init__(self, config: BatcherConfig | None = None) -> None:
        asked = settings(config) if config else {}
        self.folder = Folder()
        self.witnesses = Witnesses(self.folder.path)
        self.counted = Counted(self.witnesses)
        self.log, self.release, self.queued, self.cancel = self.folder.log, self.folder.release, self.folder.queued, cancel
        self.make(self.counted.execute, asked)

    def make(self, model: Any, settings: dict[str, Any]) -> None:
        """Start the thread."""
        self.processor = BatchProcessor(model, **settings)
        self.processor.start()

    def submit(self, request: Request) -> Future[Response]:
        """Queue one item. `processor(item)` does the same and waits for this Future."""
        self.counted.accepted(request.serial)
        future = self.processor._schedule([request.tensor()])[0].future  # noqa: SLF001 - see above
        future.add_done_callback(lambda _: self.counted.left(request.serial))
        return relay(future, lambda answer: Response(*answer), lambda _: Kind.FAILED)

    def close(self) -> None:
        """Request the end of the thread. `shutdown` does this, and waits for the model."""
        self.processor._running = False  # noqa: SLF001
        self.processor.batch_queue.stop()

    def finish(self) -> None:
        """End the thread and the logs."""
        self.close()
        self._clean()

    def _clean(self) -> None:
        self.witnesses.close()
        self.counted.close()
        self.folder.remove()


class AsyncBatchedDeployment(BatchedDeployment):
    """`@batched.aio.dynamically`, on an event loop of its own. It cannot be closed."""

    def make(self, model: Any, settings: dict[str, Any]) -> None:
        """Start the loop. The witness blocks, so batched calls it on a thread of asyncio's."""
        self.loop = Loop()
        self.call = self.loop.call(lambda: AsyncBatchProcessor(model, **settings))

    def submit(self, request: Request) -> Future[Response]:
        """Send the payload from a task of its own, as a handler of a web server would."""
        return relay(self.loop.submit(self._answered(request.tensor())), lambda one: Response(*one), lambda _: Kind.FAILED)

    async def _answered(self, tensor: Any) -> Any:
        with self.counted.waiting(tensor):
            return await self.call(tensor)

    def close(self) -> None:
        """Nothing closes it."""

    def finish(self) -> None:
        """End the loop and the logs."""
        self.loop.close()
        self._clean()


class BatchedTarget:
    """The installed batched, on a thread."""

    info = TargetInfo("batched", metadata.version("batched"), "batched", claims={**CLAIMS, "close": True})
    deploy = deploy_defaults = BatchedDeployment


class AsyncBatchedTarget:
    """The installed batched, with asyncio."""

    info = TargetInfo("batched-aio", metadata.version("batched"), "batched-aio", claims=CLAIMS)
    deploy = deploy_defaults = AsyncBatchedDeployment
