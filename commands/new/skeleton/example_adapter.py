"""An adapter: lets Batchproof judge the batcher of `example_batcher.py`."""

from concurrent.futures import Future
from tempfile import TemporaryDirectory

from example_batcher import Batcher

from batchproof.reference_batcher import BatcherConfig
from batchproof.targets import Kind, Request, Response, TargetInfo, Witness, read_log, relay, release


class Deployed:
    """The witness as the batcher's model, with one configuration."""

    def __init__(self, config: BatcherConfig) -> None:
        folder = TemporaryDirectory(prefix="batchproof-")
        self.folder, self.cursors, self.finish = folder.name, dict[str, int](), folder.cleanup
        self.batcher = Batcher(Witness(self.folder).execute, config.max_batch_size, config.max_queue_delay_ns / 1e9)
        self.queued, self.release = self.batcher.queue.qsize, lambda token: release(self.folder, token)

    def submit(self, request: Request) -> Future[Response]:
        """Send the payload. This batcher refuses nothing: its errors are the model's."""
        return relay(self.batcher.submit(request.tensor()), lambda answer: Response(*answer), lambda _: Kind.FAILED)

    def log(self) -> list[dict[str, object]]:
        """New lines of the witness's log."""
        lines, self.cursors = read_log(self.folder, self.cursors)
        return lines

    def close(self) -> None:
        """This batcher cannot be closed, and so `close` is not claimed."""


class Example:
    """The target: who it is, what it claims, and how to deploy the witness on it."""

    info = TargetInfo("example", "1.0", "example_adapter:Example", claims={"delay": True, "delay_anchor": "first-dequeue"})
    deploy = Deployed
