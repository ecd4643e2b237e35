"""All that was seen of one adapter; None: it was not tried."""

from __future__ import annotations

from dataclasses import dataclass

from batchproof.commands.adapter.answers import Burst, First
from batchproof.commands.adapter.backlog import Backlog
from batchproof.commands.adapter.depth import Deep
from batchproof.commands.adapter.ending import Cancelled, Closing, Expired, Failure, Residue, Rows, Smallest
from batchproof.commands.adapter.parallel import Beside, Defaults, Instances
from batchproof.commands.adapter.sequences import Steps
from batchproof.commands.adapter.timing import Delayed, Waits


@dataclass(frozen=True)
class Facts:
    """By experiment. idle: the share of a processor that is used while nothing is asked; None: it was not tried.

    no_delay: why `deploy` refused a queue delay. tiny: as `waits`, with a small delay. no_zero: what went wrong with a queue
    delay of 0, where all is well with a longer one. steps: a sequence by each strategy, where nothing else is served.
    strategies: the same, where plain requests are served as well.
    """

    first: First | None = None
    idle: float | None = None
    burst: Burst | None = None
    backlog: Backlog | None = None
    deep: Deep | None = None
    cancelled: Cancelled | None = None
    rows: Rows | None = None
    waits: Waits | None = None
    tiny: Waits | None = None
    no_delay: str = ""
    no_zero: str = ""
    delayed: Delayed | None = None
    instances: Instances | None = None
    beside: Beside | None = None
    defaults: Defaults | None = None
    smallest: Smallest | None = None
    expired: Expired | None = None
    failure: Failure | None = None
    closing: Closing | None = None
    residue: Residue | None = None
    steps: tuple[Steps, ...] = ()
    strategies: tuple[Steps, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether a queue can be filled behind a plug."""
        return self.backlog is not None and self.backlog.usable
