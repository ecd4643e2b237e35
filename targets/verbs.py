"""A target and its deployments with every optional verb: the one place that looks at what an adapter has.

An adapter implements what its stack can do. Everything else in Batchproof talks to a `FullTarget` and its `FullDeployment`s.
A verb whose absence changes nothing has a default that does nothing. A verb whose absence changes a verdict is None.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from functools import wraps
from typing import TYPE_CHECKING, Any

from batchproof.host.clock import HOST_CLOCK, Clock
from batchproof.targets import engines
from batchproof.targets.defaults import StackDefaults
from batchproof.targets.protocol import Deployment, Target, TargetError, TargetInfo, Unsupported
from batchproof.targets.repository import Opener

if TYPE_CHECKING:
    from batchproof.targets.kit.routes import Route


def tame(verb: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return the verb; what it raises that is not an Exception is a TargetError, so that it cannot end this process.

    A server that cannot bind its port calls `sys.exit`, and a cancelled coroutine raises what nobody expects. A
    KeyboardInterrupt is left as it is: a person may have meant it.
    """

    @wraps(verb)
    def tamed(*arguments: Any, **options: Any) -> Any:
        try:
            return verb(*arguments, **options)
        except (Exception, KeyboardInterrupt):
            raise
        except BaseException as error:
            raise TargetError(f"`{name}` has raised {unusual(error)}") from error

    return tamed


def unusual(error: BaseException) -> str:
    """Return what code of an adapter has raised that is not an Exception, and what it should do instead."""
    what = f"SystemExit({error.code!r}), as sys.exit does" if isinstance(error, SystemExit) else repr(error)
    return f"{what}: let the adapter raise an Exception that says what is wrong"


def _verb(inner: Any, name: str, default: Callable[..., Any] | None = None) -> Any:
    verb = getattr(inner, name, default)
    return verb if verb is None or verb is default else tame(verb, name)


class FullDeployment:
    """A deployment with every verb that `protocol.Deployment` lists.

    None if the adapter lacks them: release, log, queued, cancel, submit_malformed, statistics, config_pbtxt, pause, resume,
    kill_instance, route.
    finish: `close` if the adapter lacks it. drained: in simulated time, where `close` does not wait, whether it is closed to
    the end. clock: the host's, unless the deployment runs in simulated time.
    touched: what has occurred in it so far (`fixtures/judging/occurred.py`), which may have left something behind.
    untouched_since_ns: when it was deployed, on its clock, or since when it has counted all that was sent to it; None if
    neither is known, because requests have been sent to it since.
    """

    def __init__(self, inner: Any, target: FullTarget | None = None) -> None:
        self.inner = inner
        self.submit: Callable[[Any], Future[Any]] = tame(inner.submit, "submit")
        self.close: Callable[[], None] = tame(inner.close, "close")
        self.finish: Callable[[], None] = _verb(inner, "finish", self.close)
        self.drained: Callable[[], bool] = getattr(inner, "drained", lambda: True)
        self.clock: Clock = getattr(inner, "clock", HOST_CLOCK)
        self.release: Callable[[int], None] | None = _verb(inner, "release")
        self.log: Callable[[], list[dict[str, Any]]] | None = _verb(inner, "log")
        self.queued: Callable[[], int] | None = _verb(inner, "queued")
        self.submit_malformed: Callable[[], Future[Any]] | None = _verb(inner, "submit_malformed")
        self.cancel: Callable[[Future[Any]], None] | None = _verb(inner, "cancel")
        self.statistics: Callable[[], dict[str, Any]] | None = _verb(inner, "statistics")
        self.config_pbtxt: Callable[[], str] | None = _verb(inner, "config_pbtxt")
        self.pause: Callable[[], None] | None = _verb(inner, "pause")
        self.resume: Callable[[], None] | None = _verb(inner, "resume")
        self.kill_instance: Callable[[], None] | None = _verb(inner, "kill_instance")
        self.route: Route | None = getattr(inner, "route", None)
        self._target = target
        self.touched: frozenset[str] = frozenset()
        self.untouched_since_ns: int | None = self.clock.now_ns()

    @property
    def simulated(self) -> bool:
        """Whether its time is simulated, so that nothing in it is noise."""
        return self.clock.simulated

    @property
    def process_group(self) -> int:
        """The processes that serve it on this host, its own or its target's; 0 if they are not known."""
        return getattr(self.inner, "process_group", 0) or (self._target.process_group if self._target else 0)


class FullTarget:
    """A target with every verb that `protocol.Target` lists.

    None if the adapter lacks them: validate, restart, deploy_defaults, repository, engine.
    """

    def __init__(self, inner: Target) -> None:
        self.inner: Any = inner
        self.alive: Callable[[], str] = _verb(inner, "alive", str)
        self.close: Callable[[], None] = _verb(inner, "close", lambda: None)
        self.server_log: Callable[[], str] = _verb(inner, "server_log", str)
        self.deploys_at_once: int = getattr(inner, "deploys_at_once", 0)
        self.validate: Callable[[str, str], str] | None = _verb(inner, "validate")
        self.restart: Callable[[], None] | None = _verb(inner, "restart")
        self.deploy_defaults: Callable[[], Deployment] | None = _verb(inner, "deploy_defaults")
        self.repository: Opener | None = _verb(inner, "repository")
        self.engine: engines.Opener | None = _verb(inner, "engine")

    @property
    def info(self) -> TargetInfo:
        """What it is, with the user's claims merged into its own."""
        info: TargetInfo = self.inner.info
        return info

    @info.setter
    def info(self, info: TargetInfo) -> None:
        self.inner.info = info

    @property
    def simulated(self) -> bool:
        """Whether its time is simulated: seconds of load pass in milliseconds, and without noise."""
        return self.info.simulated

    @property
    def process_group(self) -> int:
        """The server's processes on this host, which a restart changes; 0 if they are not known."""
        return getattr(self.inner, "process_group", 0)

    @property
    def serves_torch(self) -> bool:
        """Whether it serves torch modules, according to its claims and its verbs."""
        return hasattr(self.inner, "serve") and bool(self.info.claims.get("torch"))

    def deploy(self, config: Any) -> FullDeployment:
        """Deploy as `Target.deploy` does, or with nothing set; Unsupported if the adapter has no verb for that."""
        if not hasattr(self.inner, "deploy"):
            raise Unsupported("dynamic batching")
        if not isinstance(config, StackDefaults):
            return FullDeployment(tame(self.inner.deploy, "deploy")(config), self)
        if self.deploy_defaults is None:
            raise Unsupported("defaults")
        return FullDeployment(self.deploy_defaults(), self)

    def deploy_beside(self, other: FullDeployment, config: Any) -> FullDeployment | None:
        """Deploy on the simulated clock of another deployment; None if the target has no such verb."""
        deploy = getattr(self.inner, "deploy_beside", None)
        return FullDeployment(deploy(other.inner, config), self) if deploy else None

    def serve(self, module: Any, config: Any) -> FullDeployment:
        """Serve a torch module if `serves_torch`: `submit` takes and returns tensors."""
        return FullDeployment(tame(self.inner.serve, "serve")(module, config), self)


def full(target: Target) -> FullTarget:
    """Return the target as a FullTarget. A FullTarget is returned as it is."""
    return target if isinstance(target, FullTarget) else FullTarget(target)


def full_deployment(deployment: Deployment) -> FullDeployment:
    """Return the deployment as a FullDeployment. A FullDeployment is returned as it is."""
    return deployment if isinstance(deployment, FullDeployment) else FullDeployment(deployment)
