"""Adapters for `troupe.py` and `ledger.py`, after docs/adapters.md. `?fault=NAME` deploys the design with that fault."""

from __future__ import annotations

import sys
import tomllib
from concurrent.futures import Future
from pathlib import Path
from types import ModuleType
from typing import Any

from batchproof.reference_batcher import BatcherConfig
from batchproof.targets import Kind, Place, Refused, Request, Response, TargetInfo, Unsupported, Witness, relay
from batchproof.targets.kit import Counted, Folder, cancel

HERE = Path(__file__).parent


def source(design: str, fault: str) -> ModuleType:
    """Return the module of a design, with one wrong place if a fault is named."""
    text = (HERE / f"{design}.py").read_text(encoding="utf-8")
    if fault:
        with open(HERE / "faults.toml", "rb") as file:
            entry = tomllib.load(file)[fault]
        if entry["design"] != design or text.count(entry["line"]) != 1:
            raise ValueError(f"{fault}: the line does not occur exactly once in {design}.py")
        text = text.replace(entry["line"], entry["wrong"])
    module = ModuleType(f"{design}_{fault or 'right'}".replace("-", "_"))
    sys.modules[module.__name__] = module
    exec(compile(text, module.__name__, "exec"), module.__dict__)
    return module


class Deployed:
    """What both adapters share: a witness for each instance, and the control inputs that the configuration asks for."""

    cancel = staticmethod(cancel)
    strategy: str
    ids = "any"

    def __init__(self, module: ModuleType, config: BatcherConfig) -> None:
        if config.sequence is None:
            raise Unsupported("requests without a sequence")
        if config.sequence.strategy != self.strategy:
            raise Unsupported(f"sequences of the strategy {config.sequence.strategy}")
        self.config, self.module, self.sequence = config, module, config.sequence
        folder = Folder()
        self.log, self.release, self.queued, self.finish = folder.log, folder.release, folder.queued, folder.remove
        self.counted = Counted(folder.path)
        self.witnesses = [Witness(folder.path, number) for number in range(config.instances)]
        self.initial = (self.sequence.state[0].initial or 0) if self.sequence.state else 0
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

    def execute(self, instance: int, tensors: list[Any], places: list[Place], states: list[int]) -> list[Any]:
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
        return self.module.Troupe(
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
        module = self.module
        kinds = ((module.Malformed, Kind.INVALID), (module.Late, Kind.EXPIRED), (module.Withdrawn, Kind.CANCELLED),
                 (module.Gone, Kind.CLOSED))  # fmt: skip
        return next((kind for type_, kind in kinds if isinstance(error, type_)), Kind.FAILED)


class LedgerDeployed(Deployed):
    """A ledger with the witness as its model."""

    strategy = "direct"
    ids = "typed"

    def made(self) -> Any:
        """Return the ledger."""
        config, sequence = self.config, self.sequence
        return self.module.Ledger(
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
        module = self.module
        kinds = ((module.Unknown, Kind.INVALID), (module.Overdue, Kind.EXPIRED), (module.Dropped, Kind.CANCELLED),
                 (module.Shut, Kind.CLOSED))  # fmt: skip
        return next((kind for type_, kind in kinds if isinstance(error, type_)), Kind.FAILED)


COMMON = {
    "delay": True, "instances": True, "close": True, "cancel": True, "queue_timeout": True, "closing": "refuses",
    "sequence_state": True,
}  # fmt: skip


class Troupe:
    """The target for `troupe.py`."""

    def __init__(self, fault: str = "") -> None:
        self.module = source("troupe", fault)
        claims = {**COMMON, "sequences": "oldest", "sequence_ids": "any"}
        self.info = TargetInfo(f"troupe-{fault or 'right'}", "1.0", "adapters:Troupe", claims=claims)

    def deploy(self, config: BatcherConfig) -> Deployed:
        """Deploy the witness on a troupe."""
        return TroupeDeployed(self.module, config)


class Ledger:
    """The target for `ledger.py`."""

    def __init__(self, fault: str = "") -> None:
        self.module = source("ledger", fault)
        claims = {**COMMON, "sequences": "direct", "sequence_ids": "typed"}
        self.info = TargetInfo(f"ledger-{fault or 'right'}", "1.0", "adapters:Ledger", claims=claims)

    def deploy(self, config: BatcherConfig) -> Deployed:
        """Deploy the witness on a ledger."""
        return LedgerDeployed(self.module, config)
