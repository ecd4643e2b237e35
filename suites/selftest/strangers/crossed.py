"""The sixth series of strangers: what several requests decide together, and what several senders do at the same moment.

Who says when a batch leaves, and who of those that wait is looked at: each class is a right batcher with one thing wrong,
which its docstring says. docs/results/strangers-7.md has the exam.
"""

from concurrent.futures import Future
from functools import partial
from typing import Any

from batchproof.suites.selftest.strangers.deadlines import NEVER, DeadlineBatcher, ExpiryAtTheTop
from batchproof.suites.selftest.strangers.stranger import faulty


class MostUrgentsDelay(DeadlineBatcher):
    """The delay counts from the most urgent request that waits, and not from the oldest."""

    def due(self) -> float:
        return self.urgent[0].due if self.urgent else NEVER


class ForgetsOwnTimeouts(DeadlineBatcher):
    """From the fiftieth request on, the timeout that a request brings with it is ignored."""

    came = 0

    def submit(self, item: Any, priority: int = 0, timeout_s: float = 0) -> Future[Any]:
        self.came += 1
        return super().submit(item, priority, timeout_s if self.came <= 50 else 0)


class ExpiresAtTheTop(ExpiryAtTheTop):
    """Only the most urgent request is looked at for expiry, and the rest of its batch is not."""


ALSO: dict[str, tuple[str, ...]] = {}
_faulty = partial(faulty, ALSO)
CROSSED = (
    _faulty("most-urgents-delay", MostUrgentsDelay, "",
            "a batch leaves when the delay of its oldest request is over, also if a more urgent one joins it", "DB-LAW-009"),
    _faulty("forgets-own-timeouts", ForgetsOwnTimeouts, "",
            "a request's own timeout counts, also after many requests", "DB-LAW-009"),
    _faulty("expires-at-the-top", ExpiresAtTheTop, "",
            "what is late is refused, also behind a more urgent request that is not", "DB-LAW-009"),
)  # fmt: skip
