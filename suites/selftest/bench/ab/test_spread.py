"""A side whose open loops a crew sends: the same arrivals, blocks that a worker can spoil, and a worker that is lost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from batchproof.bench.ab.block import Block, arrivals
from batchproof.bench.ab.spread import Spread, WorkerLost
from batchproof.load.runs import Run
from batchproof.load.spread import joint_run
from batchproof.suites.selftest.load.spread.fake_crew import MS, Behaviour, FakeCrew
from batchproof.targets.protocol import Misuse

HTTP = {"wire": "http", "address": "http://127.0.0.1:8000", "name": "/predict"}


@dataclass
class Serving:
    """A side's process that is none."""

    about: dict[str, Any] = field(default_factory=lambda: {"route": HTTP, "payload": {"work_ns": 5}})

    def saturate(self, clients: int, requests: int) -> Block:
        """A block."""
        return Block(requests, 0, float(clients), 0.0)


class Crew(FakeCrew):
    """With the method that a crew has."""

    def open_loop(self, *asked: Any, **more: Any) -> Run:
        """Send."""
        return joint_run.open_loop(self, *asked, **more)  # type: ignore[arg-type]


def spread(**behaviours: Behaviour) -> Spread:
    """Return a side with such a crew."""
    return Spread("new", Serving(), Crew(**behaviours))  # type: ignore[arg-type]


def test_the_crew_sends_the_arrivals_of_a_side() -> None:
    """The block is what one generator would have made; closed loops stay where they are."""
    side = spread(a=Behaviour(), b=Behaviour())

    block = side.pace(400.0, 1.0, 7)

    assert (block.requests, block.failed, block.why) == (arrivals(400.0, 1.0, 7).count, 0, "")
    assert block.values == {"p50_ns": 10 * MS, "p99_ns": 10 * MS, "mean_ns": 10 * MS}
    assert side.saturate(3, 40) == Block(40, 0, 3.0, 0.0)


def test_a_worker_that_is_late_drops_the_block_with_its_name() -> None:
    """By the measure of a comparison: later than the median answer takes."""
    assert spread(a=Behaviour(), b=Behaviour(late_ns=9 * MS)).pace(400.0, 1.0, 7).why == ""
    three = {"a": Behaviour(), "b": Behaviour(), "c": Behaviour(late_ns=30 * MS)}
    why = spread(**three).pace(400.0, 1.0, 7).why
    assert why == "worker 'c' was late: p99 30.0 ms, and the median answer takes 10.0 ms"


def test_a_clock_that_is_not_known_drops_the_block_with_its_name() -> None:
    """The two shares may not have been one load."""
    why = spread(a=Behaviour(), far=Behaviour(round_trip_ns=400 * MS)).pace(400.0, 1.0, 7).why

    assert why.startswith("worker 'far': its requests are known to within")


def test_a_worker_that_is_lost_ends_the_comparison() -> None:
    """Its requests without an answer are not held against a side."""
    silent = Behaviour(reply=lambda _message: None)

    with pytest.raises(WorkerLost, match="worker 'b' was lost: it was not ready within 30 s"):
        spread(a=Behaviour(), b=silent).pace(400.0, 1.0, 7)


def test_a_side_that_cannot_be_reached_is_refused() -> None:
    """Before anything is measured."""
    with pytest.raises(Misuse, match="--workers: new is not reached over the network"):
        Spread("new", Serving({"route": None, "payload": {}}), Crew())  # type: ignore[arg-type]
