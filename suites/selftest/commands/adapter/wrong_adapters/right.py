"""A right adapter, and how one thing in it is changed."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from typing import Any, ClassVar

from batchproof.targets import Refused, Request, Response, TargetInfo
from batchproof.targets.virtual import VirtualTarget
from batchproof.targets.witness_model import TRITON_CLAIMS

MS = 1_000_000
CLAIMS = dict(TRITON_CLAIMS)
OLD, OTHER = {**CLAIMS, "zero_delay": 0}, {**CLAIMS, "delay_anchor": "first-dequeue"}


class Deployed:
    """A right adapter's deployment, around the reference batcher."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.clock = getattr(inner, "clock", None)
        if self.clock is None:
            del self.clock

    def submit(self, request: Request) -> Future[Response]:
        return self.inner.submit(request)

    def cancel(self, future: Any) -> None:
        self.inner.cancel(future)

    def release(self, token: int) -> None:
        self.inner.release(token)

    def queued(self) -> int:
        return self.inner.queued()

    def log(self) -> list[dict[str, Any]]:
        return self.inner.log()

    def close(self) -> None:
        self.inner.close()

    def finish(self) -> None:
        getattr(self.inner, "finish", self.inner.close)()


class Right:
    """A right adapter."""

    deployed: ClassVar[type] = Deployed
    batcher: ClassVar[type] = VirtualTarget

    def __init__(self) -> None:
        self.stack = self.batcher()
        self.info = TargetInfo(type(self).__name__, "1.0", "here", sight=self.stack.info.sight, claims=CLAIMS)

    def deploy(self, config: Any) -> Any:
        return self.deployed(self.stack.deploy(config))


class HostileName(Right):
    """Its name has what a terminal, a reader of TOML and a library of markup obey."""

    def __init__(self) -> None:
        super().__init__()
        self.info = replace(self.info, name="\x1b[31mevil\u202e [/bold]\nrows = 1\n")


def adapter(deployed: type, batcher: type = VirtualTarget) -> type:
    """Return the adapter whose deployments are these."""
    return type(deployed.__name__.strip("_"), (Right,), {"deployed": deployed, "batcher": batcher})


def changed(future: Future[Response], change: Any) -> Future[Response]:
    """Return a Future that passes on what `change` makes of the answer."""
    outer: Any = Future()
    outer.inner = future.inner

    def settle(done: Future[Response]) -> None:
        try:
            outer.set_result(change(done.result()))
        except (Refused, LookupError) as error:
            outer.set_exception(error)

    future.add_done_callback(settle)
    return outer
