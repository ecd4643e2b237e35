"""The reference engine in simulated time as a target, and engines that decide otherwise."""

from __future__ import annotations

import random

from batchproof.reference_batcher.continuous import EngineConfig, Scheduler
from batchproof.reference_batcher.virtual import VirtualClock
from batchproof.targets.engines import Output
from batchproof.targets.engines.reference import CLAIMS, ReferenceEngine
from batchproof.targets.protocol import TargetInfo, Unsupported


class Simulated:
    """Opens reference engines whose time passes as fast as they are computed; their texts are the witness's.

    name: that of the target whose margins it is judged by.
    """

    name = "continuous"

    def __init__(self) -> None:
        self.info = TargetInfo(self.name, "1", "simulated", sight="virtual", claims=CLAIMS, discipline="continuous")

    def engine(self, config: EngineConfig) -> ReferenceEngine:
        """Open an engine."""
        return ReferenceEngine(Scheduler(config), config, VirtualClock())

    def deploy(self, config: object) -> object:
        """Raise Unsupported: an engine has no dynamic batcher."""
        raise Unsupported("dynamic batching")


class Jerky(ReferenceEngine):
    """An engine on a host that stalls it for up to 200 ms, after each tenth iteration. half: it uses half of its rows."""

    def __init__(self, config: EngineConfig, *, half: bool = False) -> None:
        used = {**config.facts(), "max_num_seqs": config.max_num_seqs // (2 if half else 1)}
        super().__init__(Scheduler(EngineConfig(**used)), config, VirtualClock())
        self._random = random.Random(4)

    def step(self) -> tuple[list[Output], bool]:
        """Run an iteration, and stall now and then."""
        found = super().step()
        if found[1] and self._random.random() < 0.1:
            self.clock.sleep_until_ns(self.clock.now_ns() + self._random.randrange(200_000_000))
        return found


class Lazy(ReferenceEngine):
    """An engine that lets 30 ms pass after each iteration."""

    def step(self) -> tuple[list[Output], bool]:
        """Run an iteration late."""
        self.clock.sleep_until_ns(self.clock.now_ns() + 30_000_000)
        return super().step()


class Liar(ReferenceEngine):
    """An engine that changes every tenth token."""

    def step(self) -> tuple[list[Output], bool]:
        """Run an iteration, and change what it says."""
        outputs, busy = super().step()
        changed = [Output(one.name, tuple(token ^ (token % 10 == 0) for token in one.tokens), one.end) for one in outputs]
        return changed, busy


class Half(ReferenceEngine):
    """An engine that uses half of its rows."""

    def __init__(self, config: EngineConfig) -> None:
        half = {**config.facts(), "max_num_seqs": config.max_num_seqs // 2}
        super().__init__(Scheduler(EngineConfig(**half)), config, VirtualClock())


class LiarTarget(Simulated):
    """Opens engines that lie."""

    def engine(self, config: EngineConfig) -> ReferenceEngine:
        """Open an engine."""
        return Liar(Scheduler(config), config, VirtualClock())


class HalfTarget(Simulated):
    """Opens engines that use half of their rows."""

    def engine(self, config: EngineConfig) -> ReferenceEngine:
        """Open an engine."""
        return Half(config)
