"""A target's model repository: several models side by side, with versions, instance groups, warm-up and ensembles.

`Target.repository` is an optional verb, and what it returns keeps the protocol `Repository`. Names of models are the
caller's own: a repository keeps them apart from all others on the same server.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Protocol

from batchproof.reference_batcher import BatcherConfig
from batchproof.targets.protocol import Request, Response

EVERY = ()  # as `Model.live`
BROKEN = "made to fail"  # what a version in `Model.broken` says when it is loaded


@dataclass(frozen=True)
class Group:
    """An instance group. resources: (name, units) that each execution occupies. priority: 1 is the highest, 2 half of it."""

    count: int = 1
    resources: tuple[tuple[str, int], ...] = ()
    priority: int = 0


@dataclass(frozen=True)
class WarmUp:
    """Samples that each instance runs before the model is ready: `count` times a batch of `rows` requests of one row.

    hold: a gate that holds them in the model. fail: they raise. Their serials are below 0, so they are nobody's requests.
    """

    rows: int = 1
    count: int = 1
    hold: int = 0
    fail: bool = False


@dataclass(frozen=True)
class Model:
    """A witness model, or an ensemble whose steps are other models, one after another.

    versions: those that the repository holds. live: how many of the newest are served, or which ones; EVERY: all.
    groups: its instance groups; without any, there is one with `config.instances`. step: its place in an ensemble, so that
    a request can ask something of this step only (see `witness/triton_deployed.py`). broken: the versions that cannot be
    loaded: what they raise contains `BROKEN`, and so does the TargetError of `load`. An ensemble (`steps`) has a maximum
    batch size and a response cache, and nothing else.
    """

    name: str
    config: BatcherConfig = field(default_factory=lambda: BatcherConfig(max_batch_size=4))
    steps: tuple[str, ...] = ()
    versions: tuple[int, ...] = (1,)
    live: int | tuple[int, ...] = 1
    groups: tuple[Group, ...] = ()
    warm_ups: tuple[WarmUp, ...] = ()
    step: int = 0
    broken: tuple[int, ...] = ()

    def facts(self) -> dict[str, Any]:
        """Return what is not as usual, as JSON data."""
        usual = Model(self.name)
        own = {key: value for key, value in vars(self).items() if key not in ("name", "config")}
        more = {key: _plain(value) for key, value in own.items() if value != getattr(usual, key)}
        return {**self.config.facts(), **more}


@dataclass(frozen=True)
class Live:
    """One version of a model as the repository lists it. reason: why it is not ready."""

    version: int
    ready: bool
    reason: str = ""


class Repository(Protocol):
    """Models that are loaded and unloaded while others serve."""

    def load(self, model: Model) -> None:
        """Load the model, or load it again in place of the one of the same name; returns when it is ready.

        TargetError says why it was not loaded. An ensemble is not loaded without all of its steps: it names the missing one.
        """

    def unload(self, name: str) -> None:
        """Take the model away; may return before it has served what is queued. TargetError says why not."""

    def ready(self, name: str, version: int = 0) -> bool:
        """Return whether this version, or the model (0), is ready."""

    def listed(self, name: str) -> list[Live]:
        """Return the model's versions that the repository lists."""

    def submit(self, name: str, request: Request, version: int = 0, *, shared: bool = False) -> Future[Response]:
        """Send a request to this version, or to the one that the server chooses (0). shared: in shared memory."""

    def cancel(self, future: Any) -> None:
        """Cancel a request; Unsupported if the protocol cannot."""

    def kill_instance(self, name: str) -> None:
        """Kill the process of one of its instances; Unsupported if this cannot be done."""

    def queued(self, name: str) -> int:
        """Return how many requests wait for the model, as the server says; 0 if there is no such model."""

    def statistics(self, name: str, version: int = 0) -> dict[str, Any]:
        """Return what the server counted for the model, or for this version (see `Deployment.statistics`)."""

    def release(self, name: str, token: int) -> None:
        """Open a gate in this model."""

    def log(self, name: str) -> list[dict[str, Any]]:
        """Return the new lines of the witness's log in this model, all versions and instances of it."""

    def close(self) -> None:
        """Unload and remove every model that it has loaded."""


# limits: how many units there are of each resource of the rate limiter; None: the server has no rate limiter.
Opener = Callable[[Mapping[str, int] | None], Repository]


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return {key: _plain(one) for key, one in vars(value).items()} if isinstance(value, Group | WarmUp) else value
