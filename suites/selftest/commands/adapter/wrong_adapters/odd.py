"""Adapters that are odd, and in which nothing has to be mended."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from batchproof.suites.selftest.commands.adapter.wrong_adapters.answers import _Silent
from batchproof.suites.selftest.commands.adapter.wrong_adapters.right import CLAIMS, MS, OTHER, Deployed, Right
from batchproof.targets import Request, Response, TargetInfo, Unsupported
from batchproof.targets.reference import ReferenceTarget
from batchproof.targets.virtual import VirtualTarget


class ZeroIsTheDefault(Right):
    """A delay of 0 means 20 ms."""

    def deploy(self, config: Any) -> Any:
        return super().deploy(replace(config, max_queue_delay_ns=config.max_queue_delay_ns or 20 * MS))


class NeedsADelay(Right):
    """It refuses a delay of 0 and a batch of 1."""

    def deploy(self, config: Any) -> Any:
        if not config.max_queue_delay_ns:
            raise Unsupported("delay")
        if config.max_batch_size == 1:
            raise Unsupported("max_batch_size=1")
        return super().deploy(config)


class NoDelay(Right):
    """It has no queue delay."""

    def deploy(self, config: Any) -> Any:
        if config.max_queue_delay_ns:
            raise Unsupported("delay")
        return super().deploy(config)


class OtherAnchor(Right):
    """It claims another anchor than it has."""

    def __init__(self) -> None:
        super().__init__()
        self.info = TargetInfo("OtherAnchor", "1.0", "here", sight="virtual", claims=OTHER)


class SilentWithoutDelay(Right):
    """A stack that answers nothing with a delay of 0, and takes it all the same."""

    def deploy(self, config: Any) -> Any:
        right = super().deploy(config)
        return right if config.max_queue_delay_ns >= 5 * MS else _Silent(right.inner)


class ClaimsItsLeast(SilentWithoutDelay):
    """The same, and its claims say so."""

    def __init__(self) -> None:
        super().__init__()
        claims = {**CLAIMS, "smallest_delay_ms": 5}
        self.info = TargetInfo("ClaimsItsLeast", "1.0", "here", sight="virtual", claims=claims)


class LongLeast(Right):
    """Its least delay is longer than the one that is tried as a rule."""

    def __init__(self) -> None:
        super().__init__()
        claims = {**CLAIMS, "smallest_delay_ms": 200}
        self.info = TargetInfo("LongLeast", "1.0", "here", sight="virtual", claims=claims)

    def deploy(self, config: Any) -> Any:
        if config.max_queue_delay_ns < 200 * MS:
            raise Unsupported("max_queue_delay_ns")
        return super().deploy(config)


class _LoadsLate(Deployed):
    """The model is still being loaded when `deploy` returns: it takes the first request 400 ms later."""

    first = True

    def submit(self, request: Request) -> Future[Response]:
        if not self.first:
            return self.inner.submit(request)
        self.first, late = False, Future()

        def loaded() -> None:
            self.inner.submit(request).add_done_callback(lambda done: late.set_result(done.result()))

        timer = threading.Timer(0.4, loaded)
        timer.daemon = True
        timer.start()
        return late


class ReturnsTooEarly(Right):
    """Its deployments are not ready."""

    deployed, batcher = _LoadsLate, ReferenceTarget

    def deploy(self, config: Any) -> Any:  # <- here
        return super().deploy(config)


class _ThreadDies(Deployed):
    """An error of the model ends the thread that called it."""

    def submit(self, request: Request) -> Future[Response]:
        if request.payload.fail:
            threading.Thread(target=self.die).start()
        return self.inner.submit(request)

    def die(self) -> None:
        raise OSError("no device")


class ManyAtOnce(Right):
    """Nothing waits for an instance, as in a stack that begins a batch whatever the model does."""

    def deploy(self, config: Any) -> Any:
        return super().deploy(replace(config, instances=64))


class NoVerbs(Right):
    """Nothing can be seen of it but answers."""

    def deploy(self, config: Any) -> Any:
        inner = super().deploy(config)
        bare = type("Bare", (), {"submit": staticmethod(inner.submit), "close": staticmethod(inner.close)})
        bare.clock = inner.clock
        return bare()


class Itself:
    """Target and deployment in one object."""

    def __init__(self) -> None:
        self.stack, self.now = VirtualTarget(), None
        self.info = TargetInfo("Itself", "1.0", "here", sight="virtual", claims=CLAIMS)

    def deploy(self, config: Any) -> Any:
        self.now = self.stack.deploy(config)
        return self

    def __getattr__(self, name: str) -> Any:
        if name in ("submit", "close", "release", "log", "queued", "cancel", "clock"):
            return getattr(self.__dict__["now"] or self.stack.deploy, name)
        raise AttributeError(name)
