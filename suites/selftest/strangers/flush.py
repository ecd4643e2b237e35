"""A batcher for Node, `flush.mjs`, which is judged over standard input and output. FAULT says what is wrong with it."""

from pathlib import Path
from typing import Any

from batchproof.targets.stdio import StdioTarget


class Flush:
    """It is right. One queue, one timer, and a fixed number of instances."""

    fault = ""


class StaleTimer(Flush):
    """The timer of a batch is not stopped when that leaves early, and sends what it finds."""

    fault = "stale-timer"


class FreedTwice(Flush):
    """A batch that fails frees its instance twice."""

    fault = "freed-twice"


class Uncounted(Flush):
    """The results of a batch go to its requests by their places, and nobody counts them."""

    fault = "uncounted"


def target(batcher: type[Any] = Flush) -> StdioTarget:
    """Return the target."""
    return StdioTarget(f"stdio:env FAULT={batcher.fault} node {Path(__file__).with_suffix('.mjs')}")
