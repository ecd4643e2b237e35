"""Targets that are right, but cannot have every value, and say so: each lacks one thing, and no rule fails for it.

They live in simulated time. `batchproof.suites.selftest.narrow:SixOrMore` is a target for `--target`. What they do not claim
they refuse with an error, so a rule that asked for it would end with ERROR.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from batchproof.suites.selftest.liars import Honest
from batchproof.targets.protocol import TargetError, TargetInfo, Unsupported
from batchproof.targets.virtual import VirtualTarget

MS = 1_000_000


class Narrow(Honest):
    """The simulated reference batcher, or one of its mutants that is right by other claims."""

    mutant: ClassVar[str] = ""

    def __init__(self) -> None:
        super().__init__()
        self._inner = VirtualTarget(self.mutant)
        name = type(self).__name__
        self.info = TargetInfo(name, "1.5", f"{__name__}:{name}", sight="virtual", claims=self.info.claims)


class SixOrMore(Narrow):
    """Its max_batch_size is at least six."""

    claims: ClassVar[dict[str, Any]] = {"smallest_batch": 6}

    def deploy(self, config: Any) -> Any:
        """Serve only with six rows or more."""
        if config.max_batch_size < 6:
            raise TargetError(f"max_batch_size is {config.max_batch_size}")
        return super().deploy(config)


class NoRowsSixOrMore(SixOrMore):
    """Its max_batch_size is at least six requests, and a request has one row."""

    claims: ClassVar[dict[str, Any]] = {"smallest_batch": 6, "rows": False}


class NoKnob(Narrow):
    """It cannot be told a delay."""

    claims: ClassVar[dict[str, Any]] = {"delay": False, "delay_anchor": False}

    def deploy(self, config: Any) -> Any:
        """Serve only without a delay."""
        if config.max_queue_delay_ns:
            raise Unsupported("delay")
        return super().deploy(config)


class IgnoresDelay(NoKnob):
    """It cannot be told a delay, and its adapter ignores one instead of refusing it."""

    def deploy(self, config: Any) -> Any:
        """Serve without a delay."""
        return super().deploy(replace(config, max_queue_delay_ns=0))


class TenSecondsAtMost(Narrow):
    """It refuses a longer delay, which no claim can say."""

    def deploy(self, config: Any) -> Any:
        """Serve with a short delay."""
        if config.max_queue_delay_ns > 10_000 * MS:
            raise Unsupported("max_queue_delay_ns")
        return super().deploy(config)


class ClaimsDelay(NoKnob):
    """It claims a delay, and has none when asked for it: this one does not tell the truth."""

    claims: ClassVar[dict[str, Any]] = {"delay": True}


class SlowTimer(Narrow):
    """Its smallest delay is 500 ms, and so it has none of 0."""

    claims: ClassVar[dict[str, Any]] = {"smallest_delay_ms": 500}

    def deploy(self, config: Any) -> Any:
        """Serve only with a long delay."""
        if config.max_queue_delay_ns < 500 * MS:
            raise TargetError(f"max_queue_delay_ns is {config.max_queue_delay_ns}")
        return super().deploy(config)


class ZeroMeansDefault(Narrow):
    """A configured delay of 0 is its default, 100 ms."""

    mutant = "zero-is-default"
    claims: ClassVar[dict[str, Any]] = {"zero_delay": "default", "smallest_delay_ms": 1}


class BatchesWithDelay(Narrow):
    """Without a delay it executes each request alone."""

    claims: ClassVar[dict[str, Any]] = {"batches_without_delay": False}

    def deploy(self, config: Any) -> Any:
        """Serve one by one where there is no delay."""
        return super().deploy(config if config.max_queue_delay_ns else replace(config, max_batch_size=1))
