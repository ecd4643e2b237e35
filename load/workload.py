"""The models under load: a witness that is busy like an accelerator, or a torch model of known shape."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from batchproof.load.traffic import Traffic
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.targets.claims import unmet
from batchproof.targets.fitting import deployable
from batchproof.targets.lifecycle import finish
from batchproof.targets.protocol import Deployment, Request, Target, Unsupported
from batchproof.targets.verbs import FullTarget, full, full_deployment
from batchproof.targets.witness.probe import Payload

if TYPE_CHECKING:
    from typing_extensions import Self

MS = 1_000_000


class Skipped(Exception):
    """This cannot be measured here; the message says why."""


class Unmeasured(Exception):
    """Nothing that follows can be measured, because the target did not answer; the message says what was seen."""


@dataclass(frozen=True)
class Work:
    """A model under load.

    base_ns, row_ns: a batch of b rows keeps the instance for base_ns + b * row_ns, while the processor is free (the
    witness sleeps, as the host does while a device computes). model: instead of that, a torch model of `models.py`.
    """

    name: str
    says: str
    base_ns: int = 0
    row_ns: int = 0
    model: str = ""


WORKS = {
    work.name: work
    for work in (
        Work("accelerator", "a device that takes 20 ms + 1.25 ms a row", 20 * MS, 5 * MS // 4),
        Work("mlp", "a perceptron 256-512-512-16", model="mlp"),
        Work("text", "a text classifier: an embedding, two transformer layers, 32 tokens", model="text"),
        Work("image", "an image classifier of ResNet-50's shape, 64 x 64 pixels", model="image"),
    )
}


class Served:
    """A model that a target serves; `submit` returns at once. Use it as a context manager.

    payload: what each request asks of the witness, as fields of `Payload`. threads: how many threads its instances compute
    with in this process, all together; 0: none. traffic: keeps the requests of a witness, if it is set. at_end: is called
    before the model is removed.
    """

    def __init__(self, deployment: Deployment, work: Work, inputs: Any = None, threads: int = 0) -> None:
        self.traffic: Traffic | None = None
        self.at_end: Callable[[], object] = lambda: None
        self.deployment = full_deployment(deployment)
        self.deployment.untouched_since_ns = None
        self.work = work
        self.payload = {"work_ns": work.base_ns, "row_work_ns": work.row_ns}
        self.clock = self.deployment.clock
        self.threads = threads
        self._inputs = inputs
        self._first = secrets.randbits(60)  # a server may keep the log of earlier runs
        self._numbers = itertools.count(1)

    def submit(self, number: int, *, rows: int = 1, hold: int = 0, **asked: Any) -> Future[Any]:
        """Send a request of this many rows. Its Future gives an answer or raises. Its number means nothing to the target.

        hold: the gate that holds it in the witness. asked: other fields of the witness's `Payload`, such as priority and
        timeout_ns; a torch model is asked for none.
        """
        if self._inputs is not None:
            return self.deployment.submit(self._inputs(rows))
        mine = next(self._numbers)  # numbers start again with every run, but serials in the witness's log must not repeat
        payload = Payload(rows=rows, work_ns=self.work.base_ns, row_work_ns=self.work.row_ns, nonce=number, **asked)
        request = Request(f"r{mine}", self._first + mine, payload, hold)
        submit = self.deployment.submit
        return submit(request) if self.traffic is None else self.traffic.send(request, submit)

    def close(self) -> None:
        """Remove the model. If the target hangs, it is left alone after ten seconds."""
        try:
            self.at_end()
        finally:
            finish(self.deployment)

    def __enter__(self) -> Self:
        """Use as `with serve(...) as served:`."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        """Close."""
        self.close()


def serve(
    target: Target, work: Work, config: BatcherConfig, *, wait_ns: int, threads: int = 1, device: str = "cpu"
) -> Served:
    """Serve the work on a target, and let it answer once; Skipped says why that is not possible.

    wait_ns: how long the first answer may take. threads: of torch inside the worker, see `models.bound_to`. TargetError as
    `Target.deploy`.
    """
    target = full(target)
    if feature := unmet(target.info.claims, config.features()):
        raise Skipped(f"{target.info.name} does not claim '{feature}'")
    if value := deployable(config, target.info.claims):
        raise Skipped(f"{target.info.name} does not support {value}")
    try:
        served = _torch(target, work, config, threads, device) if work.model else Served(target.deploy(config), work)
    except Unsupported as lack:
        raise Skipped(f"{target.info.name} does not support {lack.capability}") from None
    try:
        first = served.submit(0, **({"sequence": 1, "start": True, "end": True} if config.sequence else {}))
        served.clock.wait(first.done, served.clock.now_ns() + wait_ns)
        first.result(timeout=0)
    except BaseException:
        served.close()
        raise
    return served


def _torch(target: FullTarget, work: Work, config: BatcherConfig, threads: int, device: str) -> Served:
    if config.sequence:
        raise Skipped(f"{work.name} has no state: only the witness is served as a model of sequences")
    if target.simulated:
        raise Skipped(f"{target.info.name} does not run torch models in simulated time")
    if not target.serves_torch:
        raise Skipped(f"{target.info.name} does not serve torch modules")
    from batchproof.load.models import bound_to, build

    module, inputs = build(work.model, device)
    return Served(target.serve(bound_to(module, threads), config), work, inputs, config.instances * threads)
