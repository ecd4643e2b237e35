"""How long the iterations of a run took: by rows and tokens, and by how much each one took longer or shorter than that.

A simulation that is given these times meets the same host as the run did, with all its stalls. What differs then is what the
engine decided, so that the two can be compared on a busy host, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from batchproof.stats.arrays import Ints

FEWEST = 30  # iterations with another one right behind them


@dataclass(frozen=True, eq=False)
class OwnTimes:
    """What iterations of a run took, from the beginning of one to that of the next.

    In the mean that is base_ns + row_ns * rows + token_ns * tokens. enter_ns: when each began, from the first one on: int64
    [m]. more_ns: what each took besides: int64 [m]; 0 for one after which the engine may have been idle. mean_ns: of the
    others.
    """

    base_ns: float
    row_ns: float
    token_ns: float
    enter_ns: Ints
    more_ns: Ints
    mean_ns: float

    def takes_ns(self, since_first_ns: int, rows: int, tokens: int) -> int:
        """Return what an iteration takes that begins so long after the first one."""
        place = int(np.searchsorted(self.enter_ns, since_first_ns, "right")) - 1
        usual = self.base_ns + self.row_ns * rows + self.token_ns * tokens
        return max(1, round(usual + float(self.more_ns[max(0, place)])))


def own_times(lines: Sequence[Mapping[str, Any]]) -> OwnTimes | None:
    """Return the times of a witness's iterations; None if there are too few of them."""
    busy = [bool(_serials(one) & _serials(after)) for one, after in pairwise(lines)]
    if sum(busy) < FEWEST:
        return None
    from scipy.optimize import nnls  # a command that compares nothing does not wait for it

    enter = np.array([line["enter_ns"] for line in lines], np.int64)
    rows, tokens = (np.array(each, np.float64) for each in zip(*map(_size, lines), strict=True))
    all_ = np.column_stack([np.ones(len(lines)), rows, tokens])
    took = np.diff(enter).astype(np.float64)
    kept = np.flatnonzero(busy)
    factors = np.asarray(nnls(all_[kept], took[kept])[0])
    more = np.zeros(len(lines))
    more[kept] = took[kept] - all_[kept] @ factors
    base, row, token = (float(one) for one in factors)
    return OwnTimes(base, row, token, enter - enter[0], np.rint(more).astype(np.int64), float(took[kept].mean()))


def _serials(line: Mapping[str, Any]) -> set[int]:
    """Return who is in an iteration: if nobody of it is in the next one, the engine may have waited between."""
    return {row[0] for row in line["rows"]}


def _size(line: Mapping[str, Any]) -> tuple[int, int]:
    return len(line["rows"]), sum(row[2] for row in line["rows"])
