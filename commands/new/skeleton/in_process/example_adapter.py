"""An adapter: lets Batchproof judge the batcher of `example_batcher.py`."""

from concurrent.futures import Future

from example_batcher import Batcher

from batchproof.reference_batcher import BatcherConfig
from batchproof.targets import Kind, Request, Response, TargetInfo, relay
from batchproof.targets.kit import Counted, Folder, Witnesses, cancel


class Deployed:
    """The witness as the batcher's model, with one configuration."""

    cancel = staticmethod(cancel)

    def __init__(self, config: BatcherConfig) -> None:
        folder = Folder()
        self.log, self.release, self.queued, self.finish = folder.log, folder.release, folder.queued, folder.remove
        self.counted = Counted(Witnesses(folder.path))
        self.batcher = Batcher(self.counted.execute, config.max_batch_size, config.max_queue_delay_ns / 1e9)

    def submit(self, request: Request) -> Future[Response]:
        """Send the payload. This batcher refuses nothing: its errors are the model's."""
        future = self.counted.track(request.serial, self.batcher.submit(request.tensor()))
        return relay(future, lambda answer: Response(*answer), lambda _: Kind.FAILED)

    def close(self) -> None:
        """This batcher cannot be closed, and so `close` is not claimed."""


class Example:
    """The target: who it is, what it claims, and how to deploy the witness on it."""

    info = TargetInfo("example", "1.0", "example_adapter:Example", claims={"delay": True, "delay_anchor": "first-dequeue"})
    deploy = Deployed
