"""What is asked of the two sides: a figure, the load that shows it, and which way is better; and what the pairs answer."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from batchproof.bench.ab.block import Block
from batchproof.reports.figure_names import figure
from batchproof.reports.figures import Figure
from batchproof.stats.change import INVALID, UNPROVEN, Better, Change
from batchproof.stats.intervals import Interval
from batchproof.stats.sequential import Plan

SATURATED, PACED = "saturated", "paced"
BASE, NEW = "base", "new"


@dataclass(frozen=True)
class Question:
    """A figure. name: in words. load: which blocks show it. value: its name in `Block.values`, and of each side's figure.

    ratio: the name of the figure new / base. conditions: of these figures. better: see `Figure`.
    """

    name: str
    load: str
    value: str
    ratio: str
    better: Better
    conditions: dict[str, Any] = field(default_factory=dict)


def questions(work: str, load: float) -> tuple[Question, ...]:
    """Return what is asked. load: the share of the base's capacity at which latency is measured; 0: only throughput is.

    Throughput is asked for twice. The typical one can be told on a noisy host. A batcher that pauses now and then, and is
    as fast as ever in between, has only the mean against it.
    """
    conditions = {"work": work}
    throughput = (
        Question("typical throughput", SATURATED, "typical_rows_per_s", "ab.typical_ratio", "higher", conditions),
        Question("mean throughput", SATURATED, "rows_per_s", "ab.throughput_ratio", "higher", conditions),
    )
    if not load:
        return throughput
    at = {"work": work, "load": load}
    latency = (Question(f"{word} latency", PACED, f"{word}_ns", f"ab.{word}_ratio", "lower", at) for word in ("p50", "p99"))
    return (*throughput, *latency)


@dataclass(frozen=True)
class Pair:
    """Two blocks under the same load, one on each side. first: the side whose block came first. at_s: when it began.

    dropped: why the pair does not count, by a reason that is not the doing of either side; "" if it counts.
    """

    number: int
    load: str
    first: str
    at_s: float
    base: Block
    new: Block

    @property
    def dropped(self) -> str:
        """The reason, with the name of the side."""
        return "; ".join(f"{name}: {one.why}" for name, one in ((BASE, self.base), (NEW, self.new)) if one.why)

    @property
    def broken(self) -> str:
        """What a side did that no noise explains: requests without an answer; "" if there were none."""
        sides = ((BASE, self.base), (NEW, self.new))
        return "; ".join(
            f"{name} did not answer {one.failed} of {one.requests} requests" for name, one in sides if one.failed
        )

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        return {
            "number": self.number,
            "load": self.load,
            "first": self.first,
            "at_s": self.at_s,
            "dropped": self.dropped,
            BASE: self.base.facts(),
            NEW: self.new.facts(),
        }

    def ratio(self, value: str) -> float:
        """Return new / base."""
        return self.new.values[value] / self.base.values[value]


@dataclass(frozen=True)
class Answer:
    """What the pairs say about a question.

    ratio: new / base, with its bounds. base, new: the median block of each side; None without a pair that counts. seconds:
    of measurement, up to the answer. why: the reasons of an INVALID answer.
    """

    question: Question
    change: Change
    ratio: Interval
    dropped: int
    base: float | None
    new: float | None
    seconds: float
    why: str = ""

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The ratio, and the figure of each side."""
        if self.base is None or self.new is None or self.ratio.estimate is None:
            return ()
        asked, ratio = self.question, self.ratio
        about: dict[str, Any] = {"n": ratio.n, "valid": self.change != INVALID, **asked.conditions}
        sides = ((BASE, self.base), (NEW, self.new))
        return (
            figure(asked.ratio, self.ratio.estimate, low=ratio.low, high=ratio.high, **about),
            *(figure(f"ab.{asked.value}", value, **about, side=side) for side, value in sides),
        )

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        ratio = self.ratio
        return {
            "question": self.question.name,
            "answer": self.change,
            "better": self.question.better,
            "ratio": {"estimate": ratio.estimate, "low": ratio.low, "high": ratio.high, "confidence": ratio.confidence},
            "pairs": ratio.n,
            "dropped": self.dropped,
            "base": self.base,
            "new": self.new,
            "seconds": round(self.seconds, 3),
            "why": self.why,
            "figures": [one.facts() for one in self.figures],
        }


def answer(question: Question, pairs: Sequence[Pair], plan: Plan, margin: float, *, over: bool) -> Answer:
    """Return what these pairs say, all of the question's load. over: no more will come, so UNPROVEN is the last word.

    INVALID if a side left requests unanswered, or if in the end no pair counts, or if nothing is proved and most pairs were
    dropped.
    """
    counted = [one for one in pairs if not one.dropped]
    ratios = [one.ratio(question.value) for one in counted]
    found = (plan.at_the_end if over else plan.decided)(ratios, margin, question.better)
    dropped = len(pairs) - len(counted)
    why = next((one.broken for one in pairs if one.broken), "")
    if over and not why and (not counted or (found == UNPROVEN and dropped > len(counted))):
        last = next((one.dropped for one in reversed(pairs) if one.dropped), "no pair was measured in the time there was")
        why = f"{dropped} of {len(pairs)} pairs were dropped, the last one because of this: {last}" if pairs else last
    base, new = (_median([getattr(one, side).values[question.value] for one in counted]) for side in (BASE, NEW))
    seconds = pairs[-1].at_s + pairs[-1].base.seconds + pairs[-1].new.seconds if pairs else 0.0
    word = INVALID if why else UNPROVEN if found == INVALID else found
    return Answer(question, word, plan.interval(ratios), dropped, base, new, seconds, why)


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None
