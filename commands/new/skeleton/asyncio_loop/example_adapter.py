"""An adapter: lets Batchproof judge the batcher of `example_batcher.py`, on an event loop of its own."""

from concurrent.futures import Future
from typing import Any

from example_batcher import Batcher

from batchproof.reference_batcher import BatcherConfig
from batchproof.targets import Kind, Request, Response, TargetInfo, relay
from batchproof.targets.kit import Counted, Folder, Loop, Witnesses, cancel


class Deployed:
    """The witness as the batcher's model, with one configuration."""

    cancel = staticmethod(cancel)

    def __init__(self, config: BatcherConfig) -> None:
        self.folder, self.loop = Folder(), Loop()
        self.log, self.release, self.queued = self.folder.log, self.folder.release, self.folder.queued
        self.counted = Counted(Witnesses(self.folder.path))
        model, delay_s = self.counted.execute_async, config.max_queue_delay_ns / 1e9
        self.batcher = self.loop.call(Batcher, model, config.max_batch_size, delay_s)

    def submit(self, request: Request) -> Future[Response]:
        """Send the payload. This batcher refuses nothing: its errors are the model's."""
        return relay(self.loop.submit(self.predict(request)), lambda answer: Response(*answer), lambda _: Kind.FAILED)

    async def predict(self, request: Request) -> Any:
        """Wait for the answer. The batcher queues the item before it waits for the first time, so the count is exact."""
        tensor = request.tensor()
        with self.counted.waiting(tensor):
            return await self.batcher.predict(tensor)

    def close(self) -> None:
        """This batcher cannot be closed, and so `close` is not claimed."""

    def finish(self) -> None:
        """Cancel what is left, and remove the logs."""
        self.loop.close()
        self.folder.remove()


class Example:
    """The target: who it is, what it claims, and how to deploy the witness on it."""

    info = TargetInfo("example", "1.0", "example_adapter:Example", claims={"delay": True, "delay_anchor": "first-dequeue"})
    deploy = Deployed
