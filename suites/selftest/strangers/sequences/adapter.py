"""The batchers of sequences as targets: `batchproof.suites.selftest.strangers.sequences.adapter:NAME`."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

from batchproof.reference_batcher import BatcherConfig
from batchproof.suites.selftest.strangers.sequences.table import SEQUENCES
from batchproof.targets import Kind, Place, Refused, Request, Response, TargetInfo, Unsupported, Witness, relay
from batchproof.targets.kit import Counted, Folder, cancel
from batchproof.targets.witness.probe import State


class Deployed:
    """What both adapters share: a witness for each instance, and the control inputs that the configuration asks for."""

    cancel = staticmethod(cancel)
    strategy: str
    ids = "any"

    def __init__(self, batcher: type[Any], config: BatcherConfig) -> None:
        if config.sequence is None:
            raise Unsupported("requests without a sequence")
        if config.sequence.strategy != self.strategy:
            raise Unsupported(f"sequences of the strategy {config.sequence.strategy}")
        self.config, self.made_of, self.sequence = config, batcher, config.sequence
        folder = Folder()
        self.log, self.release, self.queued, self.finish = folder.log, folder.release, folder.queued, folder.remove
        self.counted = Counted(folder.path)
        self.witnesses = [Witness(folder.path, number) for number in range(config.instances)]
        begins = tuple(spec.initial or 0 for spec in self.sequence.state)
        self.initial: State = begins if len(begins) > 1 else begins[0] if begins else 0
        self.batcher = self.made()

    def made(self) -> Any:
        """Return the batcher."""
        raise NotImplementedError

    def accepted(self, item: Any) -> None:
        """Count a request that is queued from now on."""
        self.counted.accepted(int(item[0][0]))

    def submit(self, request: Request) -> Future[Response]:
        """Send the payload, unless it can never be served."""
        asked = request.payload
        if problem := self.problem(request):
            refused: Future[Response] = Future()
            refused.set_exception(Refused(Kind.INVALID, problem))
            return refused
        future = self.batcher.submit(
            asked.sequence, request.tensor(), start=asked.start, end=asked.end, timeout_s=asked.timeout_ns / 1e9
        )
        future.add_done_callback(lambda _: self.counted.left(request.serial))
        return relay(future, lambda answer: Response(*answer), self.kind)

    def problem(self, request: Request) -> str:
        """Return why a request can never be served; "" if it can."""
        asked = request.payload
        if asked.rows != 1:
            return "a request of a sequence has one row"
        if not asked.sequence:
            return "a request needs a correlation ID"
        return self.sequence.id_problem(asked.sequence) if self.ids == "typed" else ""

    def kind(self, error: BaseException) -> Kind:
        """Classify an error."""
        raise NotImplementedError

    def place(self, slot: int, start: bool, end: bool, name: Any) -> Place:
        """Return what the model is told."""
        told = self.sequence.controls
        return Place(
            slot, int(start and "START" in told), int(end and "END" in told), 1, name if "CORRID" in told else 0
        )

    def execute(self, instance: int, tensors: list[Any], places: list[Place], states: list[State]) -> list[Any]:
        """Run one batch on an instance's witness, and return (answer, state) for each place."""
        self.counted.left(*(int(t[0][0]) for t, place in zip(tensors, places, strict=True) if place.ready))
        given = states if self.sequence.state else None
        answers = self.witnesses[instance].execute_steps(tensors, places, given)
        return [((echo, info), state) for echo, info, state in answers]

    def close(self) -> None:
        """Refuse what waits, and wait for what is in the model."""
        self.batcher.close()


class TroupeDeployed(Deployed):
    """A troupe with the witness as its play."""

    strategy = "oldest"

    def made(self) -> Any:
        """Return the troupe."""
        config, sequence = self.config, self.sequence
        return self.made_of(
            self.play, stages=config.instances, limit=config.max_batch_size,
            seats=sequence.max_candidate_sequences or config.max_batch_size, delay_s=config.max_queue_delay_ns / 1e9,
            preferred=config.preferred_batch_size, idle_s=sequence.max_sequence_idle_ns / 1e9, initial=self.initial,
            accepted=self.accepted,
        )  # fmt: skip

    def play(self, instance: int, calls: list[Any]) -> list[Any]:
        """Run one batch."""
        places = [self.place(slot, start, end, name) for slot, (_, start, end, name, _) in enumerate(calls)]
        return self.execute(instance, [call[0] for call in calls], places, [call[4] for call in calls])

    def kind(self, error: BaseException) -> Kind:
        """Classify an error of a troupe."""
        kinds = {"Malformed": Kind.INVALID, "Late": Kind.EXPIRED, "Withdrawn": Kind.CANCELLED, "Gone": Kind.CLOSED}
        return kinds.get(type(error).__name__, Kind.FAILED)


class LedgerDeployed(Deployed):
    """A ledger with the witness as its model."""

    strategy = "direct"
    ids = "typed"

    def made(self) -> Any:
        """Return the ledger."""
        config, sequence = self.config, self.sequence
        return self.made_of(
            self.serve, instances=config.instances, slots=config.max_batch_size,
            delay_s=config.max_queue_delay_ns / 1e9, utilization=sequence.minimum_slot_utilization,
            idle_s=sequence.max_sequence_idle_ns / 1e9, initial=self.initial, accepted=self.accepted,
        )  # fmt: skip

    def serve(self, instance: int, places: list[Any]) -> list[Any]:
        """Run one batch; a place without a request gets the tensor of another, and is not ready."""
        some = next(place[0] for place in places if place is not None)
        told = [
            Place(slot, 0, 0, 0, 0) if place is None else self.place(slot, place[1], place[2], place[3])
            for slot, place in enumerate(places)
        ]
        tensors = [some if place is None else place[0] for place in places]
        return self.execute(instance, tensors, told, [0 if place is None else place[4] for place in places])

    def kind(self, error: BaseException) -> Kind:
        """Classify an error of a ledger."""
        kinds = {"Unknown": Kind.INVALID, "Overdue": Kind.EXPIRED, "Dropped": Kind.CANCELLED, "Shut": Kind.CLOSED}
        return kinds.get(type(error).__name__, Kind.FAILED)


COMMON = {
    "delay": True, "instances": True, "close": True, "cancel": True, "queue_timeout": True, "closing": "refuses",
    "sequence_state": "several",
}  # fmt: skip


DEPLOYED: dict[str, type[Deployed]] = {"troupe": TroupeDeployed, "ledger": LedgerDeployed}
CLAIMS = {
    "troupe": {**COMMON, "sequences": "oldest", "sequence_ids": "any", "preferred_sizes": True},
    "ledger": {**COMMON, "sequences": "direct", "sequence_ids": "typed"},
}


class SequenceTarget:
    """The target of one of them, right or wrong."""

    def __init__(self, name: str) -> None:
        stranger = SEQUENCES[name]
        self.batcher, self.style = stranger.batcher, stranger.style
        self.info = TargetInfo(name, "1.0", f"{__name__}:{name}", claims=CLAIMS[self.style])

    def deploy(self, config: BatcherConfig) -> Deployed:
        """Deploy the witness on it."""
        return DEPLOYED[self.style](self.batcher, config)


def __getattr__(name: str) -> SequenceTarget:
    """Return the target of this name."""
    if name not in SEQUENCES:
        raise AttributeError(name)
    return SequenceTarget(name)
