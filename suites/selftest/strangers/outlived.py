"""Strangers whose timeout covers the whole request: whoever waits for an answer is told when its time is over.

Each class is `CountsInside` with one thing different, which its docstring says. Those after `CoversAll` lose a place, or
leave out a part of the request's way.
"""

import threading
import time
from collections.abc import Sequence
from concurrent.futures import InvalidStateError
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from batchproof.suites.selftest.strangers.condition import Job, Model
from batchproof.suites.selftest.strangers.errors import TooLate
from batchproof.suites.selftest.strangers.inside import CLAIMS, CountsInside
from batchproof.suites.selftest.strangers.stranger import Stranger, faulty


class CoversAll(CountsInside):
    """A request whose time is over in the model is refused at once, and has its place until the model is done with it."""

    def take(self) -> list[Job]:
        batch = super().take()
        for job in batch if self.timeout_s else ():
            timer = threading.Timer(job.since + self.timeout_s - time.monotonic(), self.give_up, [job])
            timer.daemon = True
            timer.start()
        return batch

    def give_up(self, job: Job) -> None:
        """Refuse a request that is in the model, if it has not been answered."""
        with suppress(InvalidStateError):
            job.future.set_exception(TooLate(f"not answered within {self.timeout_s} s"))

    def run(self, model: Model, batch: list[Job]) -> None:
        outputs: Sequence[Any]
        try:
            outputs = self.compute(model, [job.item for job in batch])
        except Exception as error:  # noqa: BLE001
            outputs = [error] * len(batch)
        for job, output in zip(batch, outputs, strict=True):
            self.settle(job, output)

    def settle(self, job: Job, output: Any) -> None:
        """Answer a request, unless it has been refused meanwhile."""
        with suppress(InvalidStateError):
            if isinstance(output, Exception):
                job.future.set_exception(output)
            else:
                job.future.set_result(output)


class OutlivedKeepsPlace(CoversAll):
    """A request gives its place back when it is answered, and one that was refused meanwhile is not answered any more."""

    def compute(self, model: Model, items: list[Any]) -> Sequence[Any]:
        return model(items)

    def settle(self, job: Job, output: Any) -> None:
        if not job.future.done():
            self.left(1)
        super().settle(job, output)


class LooksAtTheQueue(CoversAll):
    """A request whose time is over in the model is answered all the same."""

    def give_up(self, job: Job) -> None:
        """Do nothing."""


COVERS = {**CLAIMS, "timeout_covers": "request"}
RIGHT_OUTLIVED = (Stranger("right-covers-all", CoversAll, claims=COVERS),)
_faulty = partial(faulty, {})
OUTLIVED = tuple(replace(one, claims=COVERS) for one in (
    _faulty("outlived-keeps-place", OutlivedKeepsPlace, "ray-project/ray/issues/41057",
            "a request whose time is over in the model gives its place back", "DB-LAW-009"),
    _faulty("looks-at-the-queue", LooksAtTheQueue, "ray-project/ray/issues/50046",
            "a timeout that covers the whole request also ends it in the model", "DB-LAW-009"),
))  # fmt: skip
