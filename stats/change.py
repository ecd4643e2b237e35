"""Changes: what a gate says that compares a figure with an earlier one, or with one that is measured next to it.

FASTER, SLOWER: with the required confidence, the new one is better, or worse, than the base. SAME: it differs by less than
the margin. UNPROVEN: the data cannot tell, but more of it, or a quieter host, may. INVALID: there is nothing to compare.
"Faster" stands for better and "slower" for worse, whichever way the figure counts: a lower latency is FASTER.

SAME goes first: a change that is proved to be small is SAME, however sure it is that there is one, because nobody wants to
be told of 0.1 %. An interval that narrows fits into the margin first if the change is below half the margin, and leaves out
1 first if it is above. A gate with a margin of 5 % thus says SAME to most changes below 2.5 %, and SLOWER to most above.
"""

from __future__ import annotations

from typing import Literal

from batchproof.stats.intervals import Interval

Change = Literal["FASTER", "SAME", "UNPROVEN", "INVALID", "SLOWER"]
FASTER: Change = "FASTER"
SLOWER: Change = "SLOWER"
SAME: Change = "SAME"
UNPROVEN: Change = "UNPROVEN"
INVALID: Change = "INVALID"
CHANGES: tuple[Change, ...] = (FASTER, SAME, UNPROVEN, INVALID, SLOWER)  # from the best to the worst
Better = Literal["higher", "lower"]


def change(ratio: Interval, margin: float, better: Better) -> Change:
    """Return what the interval of a ratio, new / base, says. margin: 0.05 for 5 %; ValueError unless it is from 0 to 1.

    The bounds of the interval are one-sided, each with its confidence. Without a change, SLOWER is therefore wrong with a
    probability of at most 1 - confidence, and FASTER likewise; SAME is wrong as rarely for a change of the whole margin.
    An interval without both bounds proves what its one bound proves; without any it is UNPROVEN. Without data: INVALID.
    """
    if not 0 <= margin < 1:
        raise ValueError(f"a margin is a share from 0 to 1, such as 0.05 for 5 %, not {margin:g}")
    if not ratio.n or ratio.estimate is None:
        return INVALID
    low, high = ratio.low, ratio.high
    least, most = same_range(margin, better)
    if low is not None and high is not None and least < low and high < most:
        return SAME
    above, below = low is not None and low > 1, high is not None and high < 1
    if above or below:
        return FASTER if above is (better == "higher") else SLOWER
    return UNPROVEN


def same_range(margin: float, better: Better) -> tuple[float, float]:
    """Return the ratios between which two figures count as the same; with base and new exchanged, they are the same two.

    5 % slower is a throughput of 0.95 times the base, or a latency of 1.05 times; 5 % faster is the same, seen from there.
    """
    return (1 - margin, 1 / (1 - margin)) if better == "higher" else (1 / (1 + margin), 1 + margin)


def worst(found: tuple[Change, ...]) -> Change:
    """Return the worst of some answers: what a gate over several figures says; without any, INVALID."""
    return max(found, key=CHANGES.index, default=INVALID)
