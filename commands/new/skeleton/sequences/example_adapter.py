"""An adapter: lets Batchproof judge the batcher of sequences in `example_batcher.py`."""

from concurrent.futures import Future

from example_batcher import Batcher, Refused, Step

from batchproof.reference_batcher import BatcherConfig
from batchproof.targets import Kind, Place, Request, Response, TargetInfo, Unsupported, Witness, relay
from batchproof.targets.kit import Counted, Folder, cancel


class Deployed:
    """The witness as the batcher's model, with one configuration."""

    cancel = staticmethod(cancel)

    def __init__(self, config: BatcherConfig) -> None:
        if config.sequence is None:
            raise Unsupported("requests without a sequence")
        if config.sequence.strategy != "direct":
            raise Unsupported("the strategy oldest")
        if config.instances > 1:
            raise Unsupported("instances")
        if config.max_queue_delay_ns:
            raise Unsupported("delay")
        folder = Folder()
        self.log, self.release, self.queued, self.finish = folder.log, folder.release, folder.queued, folder.remove
        self.witness, self.counted = Witness(folder.path, 0), Counted(folder.path)
        self.batcher = Batcher(self.model, config.max_batch_size, config.sequence.max_sequence_idle_ns / 1e9)

    def model(self, steps: list[Step | None]) -> list[Response]:
        """Run the witness. A place without a request is not ready, and has any tensor of the same shape."""
        ready = [step for step in steps if step]
        self.counted.left(*(int(step.item[0][0]) for step in ready))
        told = [(step.start, step.end, 1, step.id) if step else (0, 0, 0, 0) for step in steps]
        places = [Place(slot, int(start), int(end), at, id_) for slot, (start, end, at, id_) in enumerate(told)]
        answers = self.witness.execute_steps([(step or ready[0]).item for step in steps], places)
        return [Response(echo, info) for echo, info, _ in answers]

    def submit(self, request: Request) -> Future[Response]:
        """Send the payload, and which sequence it belongs to. An error is the model's, unless the batcher refused it."""
        asked = request.payload
        future = self.batcher.submit(request.tensor(), asked.sequence, start=asked.start, end=asked.end)
        self.counted.track(request.serial, future)
        return relay(
            future, lambda answer: answer, lambda error: Kind.INVALID if isinstance(error, Refused) else Kind.FAILED
        )

    def close(self) -> None:
        """This batcher cannot be closed, and so `close` is not claimed."""


class Example:
    """The target: who it is, what it claims, and how to deploy the witness on it."""

    info = TargetInfo(
        "example", "1.0", "example_adapter:Example", claims={"sequences": "direct", "sequence_ids": "any", "cancel": True}
    )
    deploy = Deployed
