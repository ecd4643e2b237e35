"""Batchers that never form a batch, in simulated time: what they pass says what a rule proves without one.

Each is a target for `--target`: `batchproof.suites.selftest.trivial_batchers:OneByOne`.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from batchproof.reference_batcher.core import DynamicBatcher
from batchproof.reference_batcher.lookahead import Head
from batchproof.reference_batcher.virtual import VirtualBatcher
from batchproof.targets.protocol import TargetInfo
from batchproof.targets.virtual import VirtualDeployment, VirtualTarget
from batchproof.targets.witness_model import witnessed


class _OneByOneCore(DynamicBatcher):
    """A queue that gives an instance one request at a time, at once."""

    def _head(self) -> Head:
        first = next(iter(self.queue))
        return Head([first], first.rows, first.queued_ns, grows=False)


class _Unqueued(_OneByOneCore):
    """The same with an instance for everybody, so that nothing is ever queued."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.free = deque([0])

    def poll(self, now_ns: int) -> Any:
        """Keep the instance free, whatever it is given."""
        decision = super().poll(now_ns)
        self.free = deque([0])
        return decision


class OneByOne:
    """A queue without batches. It claims all that the simulated reference batcher claims."""

    core = _OneByOneCore

    def __init__(self) -> None:
        name, lacks = type(self).__name__, ("torch", "sequences", "sequence_state")
        claims = {**VirtualTarget().info.claims, **dict.fromkeys(lacks, False)}
        self.info = TargetInfo(name, "1", f"{__name__}:{name}", sight="virtual", claims=claims)

    def deploy(self, config: Any) -> VirtualDeployment:
        """Serve the witness."""

        def shell(served: Any, service: Any, clock: Any, **_: Any) -> VirtualBatcher:
            return VirtualBatcher(served, service, clock, self.core(served))

        return VirtualDeployment(shell, witnessed(config))


class Unqueued(OneByOne):
    """Every request runs at once, alone, whatever else is in the model."""

    core = _Unqueued


class _Closed(DynamicBatcher):
    """A queue without an instance that could take anything."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.free = deque()


class Nothing(OneByOne):
    """No request ever reaches the model."""

    core = _Closed
