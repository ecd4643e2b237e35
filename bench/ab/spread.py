"""A side whose open loops are sent by a crew, from several machines; its closed loops stay with its own process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from batchproof.bench.ab.block import LATE, WAIT_NS, Block, arrivals, paced_block
from batchproof.load.runs import Run
from batchproof.load.spread.crew import Crew, CrewError
from batchproof.stats.percentile import percentile
from batchproof.targets.kit.routes import Route
from batchproof.targets.protocol import Misuse


class WorkerLost(CrewError):
    """A worker of the crew was lost, so no side can be paced any more; the message names it."""


class Served(Protocol):
    """A side's own process, as `side.Side`. about: what it serves, with its route and the payload of each request."""

    @property
    def about(self) -> dict[str, Any]:
        """JSON data."""

    def saturate(self, clients: int, requests: int) -> Block:
        """Return a block in a closed loop."""


@dataclass(frozen=True)
class Spread:
    """A side and the crew. name: of the side, for messages; Misuse if the crew cannot send to it."""

    name: str
    side: Served
    crew: Crew

    def __post_init__(self) -> None:
        """Check that there is a way to it."""
        if self.side.about["route"] is None:
            raise Misuse(
                f"--workers: {self.name} is not reached over the network, its adapter has no `route`, or its model takes "
                "other requests than the witness's; leave --workers out"
            )

    def saturate(self, clients: int, requests: int) -> Block:
        """Return a block in a closed loop, from the side's own process."""
        return self.side.saturate(clients, requests)

    def pace(self, rate: float, seconds: float, seed: int) -> Block:
        """Return a block in an open loop, from all workers; WorkerLost if one of them does not bring its samples home."""
        about = self.side.about
        run = self.crew.open_loop(
            Route(**about["route"]), arrivals(rate, seconds, seed), wait_ns=WAIT_NS, payload=about["payload"]
        )
        if lost := self.crew.lost():
            raise WorkerLost(f"worker '{lost[0].name}' was lost: {lost[0].lost}")
        block = paced_block(run)
        return replace(block, why=unfit(run) or block.why)


def unfit(run: Run) -> str:
    """Return which worker makes a block worthless, and why: by its lateness, as for a single generator, or by its clock."""
    service_ns = run.samples.service_ns[run.samples.answered]
    typical_ns = int(percentile(service_ns, 50)) if len(service_ns) else 0
    workers: Mapping[str, Mapping[str, Any]] = run.host["workers"]
    for name, told in workers.items():
        lag_ns = told["lag_p99_ns"]
        if lag_ns is None or (typical_ns and lag_ns > LATE * typical_ns):
            late = "never sent" if lag_ns is None else f"{lag_ns / 1e6:.1f} ms"
            return f"worker '{name}' was late: p99 {late}, and the median answer takes {typical_ns / 1e6:.1f} ms"
        if told["uncertain"]:
            return f"worker '{name}': {told['uncertain']}"
    return ""
