"""The raw samples of texts next to bench.jsonl: when each piece arrived, and what follows from that, with intervals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from batchproof.reports.plots import samples
from batchproof.reports.plots.chart import Point
from batchproof.reports.plots.samples import Bounds, Samples, SamplesError
from batchproof.stats import intervals
from batchproof.stats.arrays import NEVER, Ints
from batchproof.stats.autocorrelation import integrated_time

PIECES = ("piece_ns", "piece_of")


@dataclass(frozen=True, eq=False)
class Texts:
    """Requests for text; times in ns from the start of the run.

    first_ns: when the first token of each came: int64 [n]. gap_ns, gap_of: the times between two pieces of one text, in the
    order in which the later one came, and whose: int64 [g]. piece_ns: when each piece came.
    """

    whole: Samples
    first_ns: Ints
    gap_ns: Ints
    gap_of: Ints
    piece_ns: Ints

    @property
    def ttft_ns(self) -> Ints:
        """From the due time to the first token: int64 [n]; NEVER if there was none."""
        return np.where(self.first_ns == NEVER, NEVER, self.first_ns - self.whole.scheduled_ns)

    @property
    def begun(self) -> Samples:
        """The requests as if each had ended with its first token."""
        return replace(self.whole, done_ns=self.first_ns)

    def gaps(self, client: int) -> Ints:
        """Return the times between the tokens of one client: int64."""
        return np.asarray(self.gap_ns[self.whole.client[self.gap_of] == client])


def read(folder: Path, name: object) -> Texts:
    """Read the samples of this name in a report folder; SamplesError."""
    whole = samples.read(folder, name)
    pieces = samples.arrays(folder, str(name), PIECES)
    at, whose = pieces["piece_ns"], pieces["piece_of"]
    if at.ndim != 1 or at.shape != whose.shape or (len(whose) and not 0 <= whose.min() <= whose.max() < len(whole.outcome)):
        raise SamplesError(f"{name} does not hold samples: its pieces belong to nobody")
    first = np.full(len(whole.outcome), NEVER, np.int64)
    np.minimum.at(first, whose, at)
    by_request = np.argsort(whose, kind="stable")
    same = whose[by_request][1:] == whose[by_request][:-1]
    order = np.argsort(by_request[1:][same], kind="stable")
    return Texts(whole, first, np.diff(at[by_request])[same][order], whose[by_request][1:][same][order], at)


def point(x: float, value: float | None, bounds: Bounds, by: float) -> Point | None:
    """Return a figure of the report with the interval of its samples; None without a figure."""
    if value is None:
        return None
    _, low, high = bounds
    return Point(x, value / by, low and min(low, value) / by, high and max(high, value) / by)


def share(x: float, value: float, requests: int) -> Point:
    """Return a share of so many requests in %, with its interval if they were independent."""
    found = intervals.share(round(value * requests), requests, 1.0, samples.TWO_SIDED)
    low = None if found.low is None else 100 * min(found.low, value)
    high = None if found.high is None else 100 * max(found.high, value)
    return Point(x, 100 * value, low, high)


def kept(texts: Texts, ttft_ns: int, itl_ns: int, rate: float) -> Bounds:
    """Return the requests a second that keep an objective, of so many that are offered, with an interval."""
    longest = np.zeros(len(texts.first_ns), np.int64)
    np.maximum.at(longest, texts.gap_of, texts.gap_ns)
    within = (texts.ttft_ns <= ttft_ns) & (longest <= itl_ns) & texts.whole.answered
    if not within.size:
        return None, None, None
    found = intervals.share(int(within.sum()), within.size, integrated_time(within), samples.TWO_SIDED)
    low, middle, high = (None if one is None else one * rate for one in (found.low, found.estimate, found.high))
    return middle, low, high
