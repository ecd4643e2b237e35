"""What `compare` says of runs whose true difference and whose spread are known, because they are drawn: its error rates."""

from __future__ import annotations

import random
from collections import Counter

from batchproof.reports.compare.comparison import MARGIN
from batchproof.reports.compare.ratio import RUN_SPREAD, ratio
from batchproof.reports.figures import Figure
from batchproof.stats.change import Change, change

SIDES = ((1, 1), (3, 1), (5, 1), (3, 3), (5, 3), (5, 5), (8, 8))  # runs of the base, and of the new side
SPREADS = (0.005, 0.01, 0.02, 0.03)


def answers(
    sides: tuple[int, int],
    spread: float,
    slower: float,
    *,
    comparisons: int,
    margin: float = MARGIN,
    run_spread: float = RUN_SPREAD,
    seed: int = 1729,
) -> Counter[Change]:
    """Return how often which answer is given of one rate that decides, log-normal from run to run.

    slower: by how much the new side's rate is lower, as a share. No run knows how it differs from the next: each gives
    itself an interval without any width.
    """
    chance = random.Random(f"{seed} {sides} {spread} {slower}")
    found: Counter[Change] = Counter()
    for _ in range(comparisons):
        base, new = ([_run(rate * chance.lognormvariate(0, spread)) for _ in range(count)]
                     for count, rate in zip(sides, (1.0, 1 - slower), strict=True))  # fmt: skip
        found[change(ratio(base, new, run_spread=run_spread), margin, "higher")] += 1
    return found


def _run(rate: float) -> Figure:
    return Figure("rate", rate, "rows/s", "higher", rate, rate)
