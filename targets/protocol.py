"""The seam between the suite and what it judges: three verbs, no base class.

An adapter is any object with `info` and `deploy`; what it deploys has `submit` and `close`. Everything else is optional
and found by presence (see `Deployment`).
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol, runtime_checkable

import numpy as np

from batchproof.targets.witness.probe import PLAIN, Head, Ints, Payload, encode


@dataclass(frozen=True)
class Request:
    """One request of a script, as the adapter sends it.

    serial: identifies the request in the witness's log, unique within a deployment. payload: what it asks for. hold: a
    gate's token; its batch stays in the model until `release(token)`; 0 means no gate.
    """

    name: str
    serial: int
    payload: Payload = PLAIN
    hold: int = 0

    def tensor(self) -> Ints:
        """Return the payload as the witness reads it: int64 [rows, columns]; see `witness.probe.encode`."""
        return encode(Head(self.serial, self.hold, self.payload))

    def extra_tensor(self) -> Ints | None:
        """Return the second tensor: int64 [rows, extra], each element the serial; None if the request has none."""
        asked = self.payload
        return np.full((asked.rows, asked.extra), self.serial, dtype=np.int64) if asked.extra else None


@dataclass(frozen=True)
class Response:
    """An answer: the echo of `Request.tensor()`, and the witness's INFO, int64 [rows, 10] (None: no witness)."""

    echo: Ints
    info: Ints | None


class Kind(str, Enum):
    """Why a request was not answered, in the same words for every stack."""

    INVALID = "invalid"  # it can never be served as it is (too many rows, wrong shape)
    FULL = "full"  # the queue has no room for it
    EXPIRED = "expired"  # it waited for longer than its queue timeout
    CANCELLED = "cancelled"  # its sender cancelled it
    FAILED = "failed"  # the model raised
    CLOSED = "closed"  # the model or server is going away
    LOST = "lost"  # the connection or the server broke, so nothing refused the request
    OTHER = "other"


class Refused(Exception):
    """What an adapter sets on the Future of a request that was not answered.

    status: the error's canonical gRPC name (UNAVAILABLE, INVALID_ARGUMENT, INTERNAL, NOT_FOUND, ...); empty if unknown.
    """

    def __init__(self, kind: Kind, message: str, status: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.status = status


class Unsupported(Exception):
    """Raised by `deploy`: the target cannot be configured like this.

    capability: what it lacks, by the name of the claim (`delay`), by the field of the configuration whose value it cannot
    have (`max_batch_size`), or in words that follow "without" (`a queue delay of more than 30 s`).
    """

    def __init__(self, capability: str) -> None:
        super().__init__(capability)
        self.capability = capability


class TargetError(Exception):
    """The target cannot be judged, because it is missing, unreachable or broken. The message says what to do."""


class Misuse(TargetError):
    """Something that the user wrote is wrong, so nothing was started, and the command ends with `ExitStatus.MISUSE`."""


class UnknownTarget(Misuse):
    """What follows --target does not name a target, or its options are wrong."""


class TargetGone(TargetError):
    """The target died during the run: nothing after this can be judged."""


SHOWN = ("name", "version", "contact")
TEXTS = (*SHOWN, "reached", "sight", "discipline")
LONGEST = 200  # characters of what is shown


@dataclass(frozen=True)
class TargetInfo:
    """A target's description.

    claims: what it claims to support (see docs/adapters.md). sight: see the catalogue. discipline: `dynamic`, or
    `continuous` for an engine that forms its batch anew in each iteration: it decides which rules there are.
    """

    name: str
    version: str
    reached: str
    contact: str = ""
    sight: str = "witness"
    claims: Mapping[str, Any] = field(default_factory=dict)
    discipline: str = "dynamic"

    @property
    def simulated(self) -> bool:
        """The target lives in simulated time."""
        return self.sight == "virtual"

    def flaws(self) -> list[str]:
        """Return what is wrong with it: every report begins with it, and a name is shown in many places."""
        found = [f"`{name}` is not a text" for name in TEXTS if not isinstance(getattr(self, name), str)]
        texts = {name: text for name in SHOWN if isinstance(text := getattr(self, name), str)}
        found += [f"`{name}` has {len(text)} characters, and may have {LONGEST}" for name, text in texts.items()
                  if len(text) > LONGEST]  # fmt: skip
        found += ["`name` is empty"] if not texts.get("name", "?").strip() else []
        return [*found, *([] if isinstance(self.claims, Mapping) else ["`claims` is not a mapping"])]

    def facts(self) -> dict[str, Any]:
        """Return what a report says about the target, as JSON data."""
        known = {key: value for key, value in vars(self).items() if (key, value) != ("discipline", "dynamic")}
        return {**known, "claims": dict(self.claims)}


@runtime_checkable
class Deployment(Protocol):
    """A model with the witness in it, ready to serve.

    Optional verbs, found by presence: `release(token)`; `log() -> list[dict]` (the witness's new log lines); `queued() ->
    int` (requests accepted and not yet in the model); `cancel(future)`; `submit_malformed()` (sends a request that cannot
    be served, such as one with a tensor of a wrong shape, and returns its Future); `config_pbtxt() -> str` (the
    configuration as the server has it); `statistics() -> dict` (what the server counted so far: any of `success`, `fail`,
    `failed`, `expired`, `cancelled`, `cache_hits`, `inference_count`, `execution_count`, and `batches`, executions by
    rows); attribute `clock` (a simulated one); `finish()` (close and wait); `pause()`, `resume()` and `kill_instance()`
    (faults: stop the server's processes and let them go on, kill the process of one of the model's instances); attribute
    `route` (a `kit.routes.Route`: how a generator on another machine reaches it).
    """

    def submit(self, request: Request) -> Future[Response]:
        """Send a request, and return at once. The Future raises Refused for anything but an answer."""
        ...

    def close(self) -> None:
        """Remove the model. Requests that were accepted are still answered or refused."""
        ...


@runtime_checkable
class Target(Protocol):
    """What is judged.

    Optional verbs, found by presence: `close()`; `alive() -> str` (why it cannot be judged any more, or "");
    `validate(name, text) -> str` ("loaded", or why it refused this config.pbtxt); `serve(module, config)` (a torch module);
    `restart()` (replaces a server that a fault has ended); `deploy_defaults()` (serves the witness with nothing set but what
    the stack demands, and returns a deployment); `repository(limits)` (models that come and go, see `repository.py`);
    `engine(config)` (an engine with continuous batching, see `engines`: such a target's `deploy` raises Unsupported).
    Optional attributes: `process_group` (of a server on this host, so that its waits for a processor are known) and
    `deploys_at_once` (how many threads may call `deploy` at a time).
    """

    info: TargetInfo

    def deploy(self, config: Any) -> Deployment:
        """Serve the witness with this `BatcherConfig`; may raise Unsupported or TargetError."""
        ...
