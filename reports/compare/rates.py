"""How often comparisons of stored runs end with which answer: of equal runs, and of runs with a true difference.

A gate's error rates are facts about a machine, a target and a form of bench: they are measured from runs, and not assumed.
"""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence

from batchproof.reports.compare.comparison import MARGIN, compare
from batchproof.reports.compare.ratio import spread
from batchproof.reports.figures import OF_THE_HOST
from batchproof.reports.measured import Measured
from batchproof.stats.change import Change

DRAWS = 1000  # comparisons of several runs a side: there are too many ways to choose them to try all
Sides = tuple[Sequence[Measured], Sequence[Measured]]
ALL = "all that decide"


def rates(
    base: Sequence[Measured],
    new: Sequence[Measured] = (),
    *,
    each: int = 1,
    margin: float = MARGIN,
    patterns: Sequence[str] = (),
    seed: int = 1729,
) -> dict[str, Counter[Change]]:
    """Return how often each figure that decides ended with each answer, and all of them together under `ALL`.

    new: runs with a difference; empty: runs of the base are compared with each other. each: runs a side. With one, every
    pair is compared in either direction; with several, `DRAWS` draws are. One run is in many comparisons, so they are not
    independent. Runs of the base without figures are left out. ValueError if too few are left; NotComparable as in
    `compare`.
    """
    base = measuring(base)
    found: dict[str, Counter[Change]] = {ALL: Counter()}
    for left, right in _sides(base, new, each, seed):
        one = compare(left, right, margin=margin, patterns=patterns)
        found[ALL][one.change] += 1
        for row in one.deciding:
            found.setdefault(row.id, Counter())[row.change] += 1
    return found


def measuring(runs: Sequence[Measured]) -> list[Measured]:
    """Return the runs that have figures: a base without any cannot be compared with."""
    return [run for run in runs if any(not one.name.startswith(OF_THE_HOST) for one in run.figures)]


def spreads(base: Sequence[Measured], new: Sequence[Measured] = ()) -> dict[str, float]:
    """Return by how much equal runs vary, of each figure with two results on a side: what `compare --run-spread` wants."""
    groups: dict[str, list[list[float]]] = {}
    for side in (measuring(base), new):
        values: dict[str, list[float]] = {}
        for one in (figure for run in side for figure in run.figures if figure.valid and figure.value > 0):
            values.setdefault(one.id, []).append(math.log(one.value))
        for name, logs in values.items():
            groups.setdefault(name, []).append(logs)
    return {name: spread(logs) for name, logs in groups.items() if max(map(len, logs)) > 1}


def _sides(base: Sequence[Measured], new: Sequence[Measured], each: int, seed: int) -> Iterator[Sides]:
    if (len(base) < each or len(new) < each) if new else len(base) < 2 * each:
        raise ValueError(f"{each} a side need more runs than {len(base)}" + (f" and {len(new)}" if new else ""))
    if each == 1:
        pairs = itertools.product(base, new) if new else itertools.permutations(base, 2)
        yield from (([left], [right]) for left, right in pairs)
        return
    chance = random.Random(seed)
    for _ in range(DRAWS):
        if new:
            yield chance.sample(base, each), chance.sample(new, each)
        else:
            drawn = chance.sample(base, 2 * each)
            yield drawn[:each], drawn[each:]
