"""A sequential test of a change: pairs of measurements come one after another, and are looked at before all have come.

Each pair measures the base and the new one in a random order, and counts by the logarithm of its ratio. If the two are the
same, then every such logarithm is as likely to be positive as negative: whatever the host does to a measurement, a coin
decides whom it hits. So Wilcoxon's signed-rank test has exactly the error rate that it states, with any tails, and with
noise that drifts. A test on means has neither property, and it decides less often where one measurement in ten is
disturbed. Neither knows of a host that favours one of the two for longer than a pair takes.

To look again and again raises the error rate. The number of looks is therefore fixed before the first pair, and each look
has its share of the doubt (Bonferroni, which holds however the looks depend on each other). A few looks that lie further
and further apart lose little against a look after every pair.

The choice was made by simulation, against Student's t at the same looks and against shares of 1/2, 1/6, 1/12 ... of the
doubt. `suites/selftest/stats/test_sequential.py` measures the error rates and the power, and what Student's t does instead.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from batchproof.stats.change import UNPROVEN, Better, Change, change
from batchproof.stats.intervals import Interval, nothing
from batchproof.stats.quantiles import CONFIDENCE
from batchproof.stats.signed_rank import middle

LOOKS = 8


@dataclass(frozen=True)
class Plan:
    """When the pairs are looked at: at these numbers of them. confidence: of all looks together, on either side."""

    looks: tuple[int, ...]
    confidence: float = CONFIDENCE

    @classmethod
    def up_to(cls, most: int, confidence: float = CONFIDENCE) -> Plan:
        """Return a plan with looks from the fewest pairs that can decide to number `most`, in equal steps of the logarithm.

        At 99 %, ten pairs are the fewest. Where there may be fewer in all, there is one look, at the end.
        """
        fewest = math.ceil(math.log2(LOOKS / (1 - confidence)))
        if most <= fewest:
            return cls((max(1, most),), confidence)
        step = (most / fewest) ** (1 / (LOOKS - 1))
        return cls(tuple(sorted({round(fewest * step**look) for look in range(LOOKS)})), confidence)

    def interval(self, ratios: Sequence[float]) -> Interval:
        """Return the bounds of the ratio, new / base, that one look at these positive ratios of pairs may use."""
        if not ratios:
            return nothing(self.confidence)
        found = middle([math.log(one) for one in ratios], 1 - (1 - self.confidence) / len(self.looks))
        low, middle_, high = (None if one is None else math.exp(one) for one in (found.low, found.estimate, found.high))
        return Interval(middle_, low, high, self.confidence, found.n, found.effective)

    def decided(self, ratios: Sequence[float], margin: float, better: Better) -> Change:
        """Return what the ratios so far prove, if a look is due at their number, and UNPROVEN otherwise."""
        return change(self.interval(ratios), margin, better) if len(ratios) in self.looks else UNPROVEN

    def at_the_end(self, ratios: Sequence[float], margin: float, better: Better) -> Change:
        """Return the answer when the time is over and no look has decided. It takes the place of the next look."""
        return change(self.interval(ratios), margin, better)
