"""Adapters whose `deploy` or whose `info` is wrong."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from typing import Any

from batchproof.suites.selftest.commands.adapter.wrong_adapters.right import CLAIMS, MS, OLD, Deployed, Right
from batchproof.suites.selftest.commands.adapter.wrong_adapters.verbs import _OneFolder, _OneNumber
from batchproof.targets import Request, TargetError, TargetInfo, Unsupported
from batchproof.targets.reference import ReferenceTarget
from batchproof.targets.witness_model import witnessed


class OneNumber(Right):
    """Both instances call themselves 0."""

    batcher = ReferenceTarget

    def deploy(self, config: Any) -> Any:
        return _OneNumber(witnessed(config))


class IgnoresSize(Right):
    """It does not pass max_batch_size on."""

    def deploy(self, config: Any) -> Any:  # <- here
        return super().deploy(replace(config, max_batch_size=64))


class IgnoresOne(Right):
    """It makes a size of 1 another one."""

    def deploy(self, config: Any) -> Any:  # <- here
        return super().deploy(replace(config, max_batch_size=max(2, config.max_batch_size)))


class IgnoresInstances(Right):
    """It does not pass the instances on."""

    def deploy(self, config: Any) -> Any:  # <- here
        return super().deploy(replace(config, instances=1))


class BreaksUnasked(Right):
    """It fails with several instances, which it does not claim."""

    def __init__(self) -> None:
        super().__init__()
        self.info = replace(self.info, claims={**CLAIMS, "instances": False})

    def deploy(self, config: Any) -> Any:
        if config.instances > 1:
            raise TargetError("the server ended with status 1; the end of what it printed: Traceback")
        return super().deploy(config)


class BreaksBelowItsLeast(Right):
    """It fails with batches of one, of which its claims say that it has none."""

    def __init__(self) -> None:
        super().__init__()
        self.info = replace(self.info, claims={**CLAIMS, "smallest_batch": 2})

    def deploy(self, config: Any) -> Any:
        if config.max_batch_size < 2:
            raise ValueError("max_batch_size must be at least 2")
        return super().deploy(config)


class _EndsLater(Deployed):
    """It goes on for a second after `close` has returned, as a server does that is told to end."""

    def close(self) -> None:
        self.clock.at(self.clock.now_ns() + 1_000 * MS, self.inner.close)


class IgnoresDelay(Right):
    """It does not pass the delay on."""

    def deploy(self, config: Any) -> Any:  # <- here
        return super().deploy(replace(config, max_queue_delay_ns=0))


class IgnoresTimeout(Right):
    """It does not pass the queue timeout on."""

    def deploy(self, config: Any) -> Any:  # <- here
        return super().deploy(replace(config, queue_timeout_ns=0))


class WrongUnit(Right):
    """It takes microseconds for nanoseconds."""

    def deploy(self, config: Any) -> Any:  # <- here
        return super().deploy(replace(config, max_queue_delay_ns=1000 * config.max_queue_delay_ns))


class RefusesOne(Right):
    """It raises what it should not raise."""

    def deploy(self, config: Any) -> Any:
        if config.max_batch_size == 1:
            raise ValueError("max_batch_size must be more than 1")  # <- here
        return super().deploy(config)


class RefusesAll(Right):
    """It can be configured in no way."""

    def deploy(self, config: Any) -> Any:  # <- here
        raise Unsupported("instances")


class OnlySequences(Right):
    """It has no dynamic batcher, and one strategy."""

    claimed = "oldest"

    def __init__(self) -> None:
        super().__init__()
        self.info = replace(self.info, claims={"sequences": self.claimed})

    def deploy(self, config: Any) -> Any:
        if config.sequence is None:
            raise Unsupported("requests without a sequence")
        if config.sequence.strategy != "oldest":
            raise Unsupported("that strategy")
        return super().deploy(config)


class SequencesOfBothKinds(OnlySequences):
    """It claims two strategies, and has one."""

    claimed = "both"

    def deploy(self, config: Any) -> Any:  # <- here
        return super().deploy(config)


class _LosesStart(Deployed):
    def submit(self, request: Request) -> Any:  # <- here
        whole = request.payload.start and request.payload.end
        payload = request.payload if whole else replace(request.payload, start=False)
        return self.inner.submit(replace(request, payload=payload))


class SequencesWithoutStart(OnlySequences):
    """It forgets START unless it has END, too."""

    def deploy(self, config: Any) -> Any:
        return _LosesStart(super().deploy(config))


class SequencesWithoutPlaces(OnlySequences):
    """Its log does not show what the model was told."""

    def deploy(self, config: Any) -> Any:
        deployed = super().deploy(config)
        log = deployed.log
        deployed.log = lambda: [{name: line[name] for name in line if name != "places"} for line in log()]
        return deployed


class OneFolder(Right):
    """All deployments share a log."""

    batcher = ReferenceTarget

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.close = self.folder.cleanup

    def deploy(self, config: Any) -> Any:
        return _OneFolder(witnessed(config), self.folder.name)


class OneAtATime(Right):
    """A new deployment ends the one before."""

    batcher = ReferenceTarget
    before: Any = None

    def deploy(self, config: Any) -> Any:  # <- here
        if self.before is not None:
            self.before.close()
        self.before = super().deploy(config)
        return self.before


class SeveralThings(Right):
    """Neither the delay nor the instances are passed on."""

    def deploy(self, config: Any) -> Any:
        return super().deploy(replace(config, instances=1, max_queue_delay_ns=0))


class SubmitsAlone:
    """A deployment that shows nothing but its answers."""

    def __init__(self, inner: Any) -> None:
        self.submit, self.close, self.finish, self.clock = inner.submit, inner.close, inner.finish, inner.clock


class IgnoresDelayUnseen(IgnoresDelay):
    """The same, and nothing can be held or counted, so some things cannot be tried."""

    def deploy(self, config: Any) -> Any:
        return SubmitsAlone(super().deploy(config))


class NoInfo(Right):
    """Its `info` is a dict."""

    def __init__(self) -> None:
        super().__init__()
        self.info = {"name": "mine"}  # <- here


class OldClaims(Right):
    """It claims what is not a claim."""

    def __init__(self) -> None:
        super().__init__()
        self.info = TargetInfo("OldClaims", "1.0", "here", sight="virtual", claims=OLD)  # <- here
