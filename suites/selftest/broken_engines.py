"""Engines that go wrong only in certain traffic: for hunts and drivers.

`--target batchproof.suites.selftest.broken_engines:LastFirst`
"""

from __future__ import annotations

from typing import Any

from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.targets.engines import EngineGone, Output
from batchproof.targets.engines.reference import ContinuousTarget, ReferenceEngine
from batchproof.targets.protocol import Unsupported


class LastFirst(ContinuousTarget):
    """Admits the newest first once three are waiting."""

    def engine(self, config: EngineConfig) -> ReferenceEngine:
        """Open it."""
        engine = super().engine(config)
        scheduler: Any = engine._scheduler
        schedule = scheduler.schedule

        def backwards() -> Any:
            if len(scheduler.waiting) > 2:
                scheduler.waiting.reverse()
            return schedule()

        scheduler.schedule = backwards
        return engine


class Mortal(ContinuousTarget):
    """Dies in its twelfth iteration."""

    def engine(self, config: EngineConfig) -> ReferenceEngine:
        """Open it."""
        engine: Any = super().engine(config)
        step, left = engine.step, [12]

        def mortal() -> tuple[list[Output], bool]:
            left[0] -= 1
            if left[0] < 0:
                raise EngineGone("the engine was killed by SIGSEGV\nthe end of its log")
            found: tuple[list[Output], bool] = step()
            return found

        engine.step = mortal
        return engine  # type: ignore[no-any-return]


class Nothing(ContinuousTarget):
    """Cannot have anything."""

    def engine(self, config: EngineConfig) -> ReferenceEngine:
        """Refuse."""
        raise Unsupported(f"an engine of {config.max_num_seqs} sequences")
