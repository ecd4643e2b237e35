"""An adapter: lets Batchproof judge batchlet, an asyncio batcher of PyPI. README.md says where the claims come from."""

from concurrent.futures import Future
from importlib.metadata import version
from typing import Any

from batchlet import AsyncBatcher, BatcherClosed, BatchPolicy, ItemTooLarge, QueueFull

from batchproof.reference_batcher import BatcherConfig
from batchproof.targets import Kind, Request, Response, TargetInfo, relay
from batchproof.targets.kit import Counted, Folder, Loop, Witnesses, cancel

KINDS = {ItemTooLarge: Kind.INVALID, QueueFull: Kind.FULL, TimeoutError: Kind.EXPIRED, BatcherClosed: Kind.CLOSED}


class Deployed:
    """The witness as the processor of one batcher, on an event loop of its own."""

    cancel = staticmethod(cancel)

    def __init__(self, config: BatcherConfig) -> None:
        self.folder, self.loop, rows = Folder(), Loop(), config.max_batch_size
        self.counted = Counted(Witnesses(self.folder.path))
        self.log, self.release, self.queued = self.folder.log, self.folder.release, self.folder.queued
        self.timeout = config.queue_timeout_ns / 1e9 or None
        policy = BatchPolicy(max_items=rows, max_tokens=rows)  # a row is a token, and their sum counts
        self.batcher = AsyncBatcher(self.counted.execute_async, policy=policy, max_wait_ms=config.max_queue_delay_ns / 1e6,
                                    max_pending_items=config.max_queue_size or 1024, max_concurrent_batches=config.instances)

    async def infer(self, tensor: Any) -> Any:
        """Wait for one result."""
        with self.counted.waiting(tensor):
            return await self.batcher.submit(tensor, size=len(tensor), timeout=self.timeout)

    def submit(self, request: Request) -> Future[Response]:
        """Send the payload."""
        call = self.loop.submit(self.infer(request.tensor()))
        return relay(call, lambda answer: Response(*answer), lambda error: KINDS.get(type(error), Kind.FAILED))

    def close(self) -> None:
        """Take no more requests, and serve what is queued."""
        self.loop.submit(self.batcher.aclose())

    def finish(self) -> None:
        """End the loop."""
        self.loop.close()
        self.folder.remove()


class Batchlet:
    """The installed batchlet."""

    info = TargetInfo("batchlet", version("batchlet"), "batchlet_adapter:Batchlet", claims={
        "rows": True, "delay": True, "delay_anchor": "oldest-enqueue", "instances": True, "cancel": True, "close": True,
        "queue_timeout": True, "timeout_covers": "request", "max_queue_size": True, "queue_limit_counts": "inside"})
    deploy = Deployed
