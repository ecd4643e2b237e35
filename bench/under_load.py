"""Whether a batcher is right under load: what its models were sent is judged before they are removed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from batchproof.load.workload import Served
from batchproof.reference_batcher.config import BatcherConfig

PAGE = "wrong-under-load.txt"


@dataclass(frozen=True)
class Looked:
    """One look at a model's traffic. requests: how many there were. wrong: the first mistake, or ""; shown: in full."""

    requests: int
    wrong: str = ""
    shown: str = ""


Look = Callable[[Served, BatcherConfig], Looked]


@dataclass
class UnderLoad:
    """What was seen in one bench. requests: how many were judged. wrong: the mistakes that nobody has been told yet."""

    look: Look
    requests: int = 0
    wrong: list[Looked] = field(default_factory=list)

    def judge(self, served: Served, config: BatcherConfig) -> None:
        """Judge a model that is about to be removed."""
        looked = self.look(served, config)
        self.requests += looked.requests
        if looked.wrong:
            self.wrong.append(looked)

    def taken(self) -> list[Looked]:
        """Return the mistakes since the last call."""
        taken, self.wrong = self.wrong, []
        return taken
