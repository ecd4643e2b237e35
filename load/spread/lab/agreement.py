"""Whether several workers far away measure what one machine close by measures: throughput, p50 and p99, round by round."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from batchproof.load.runs import Run

THROUGHPUT, LATENCY = 0.02, 0.05  # how far the medians may be apart
FEWEST = 3  # valid rounds, for a verdict
PASS, FAIL, INCONCLUSIVE = "PASS", "FAIL", "INCONCLUSIVE"
PERCENTS = (50, 99)


@dataclass(frozen=True)
class Round:
    """Both runs of one schedule. way_ns: the round trip that is known to lie between the workers and the target."""

    alone: Run
    spread: Run
    way_ns: int

    @property
    def valid(self) -> bool:
        """Whether both are results."""
        return self.alone.valid and self.spread.valid and self.alone.throughput > 0

    @property
    def throughput(self) -> float:
        """How many times the throughput of one machine it is."""
        return self.spread.throughput / self.alone.throughput

    def latency(self, percent: int) -> float:
        """Return how many times the latency from one machine it is, once the known way is taken off."""
        alone_ns, spread_ns = self.alone.latency_ns(percent), self.spread.latency_ns(percent)
        if alone_ns is None or spread_ns is None:
            return float("inf")
        return (spread_ns - self.way_ns) / alone_ns

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        ratios = {"throughput": self.throughput, **{f"p{percent}": self.latency(percent) for percent in PERCENTS}}
        runs = {"alone": self.alone.summary(), "spread": self.spread.summary()}
        return {"valid": self.valid, "way_ns": self.way_ns, **runs, "ratios": ratios if self.valid else None}


def medians(rounds: Sequence[Round]) -> dict[str, float]:
    """Return the median of each ratio over the valid rounds; {} if there are too few."""
    valid = [one for one in rounds if one.valid]
    if len(valid) < FEWEST:
        return {}
    ratios: Mapping[str, Callable[[Round], float]] = {
        "throughput": lambda one: one.throughput,
        **{f"p{percent}": (lambda one, percent=percent: one.latency(percent)) for percent in PERCENTS},  # type: ignore[misc]
    }
    return {name: statistics.median(map(ratio, valid)) for name, ratio in ratios.items()}


def verdict(found: Mapping[str, float]) -> str:
    """Return PASS if all medians are close enough to 1, INCONCLUSIVE without medians."""
    if not found:
        return INCONCLUSIVE
    allowed = {"throughput": THROUGHPUT}
    return PASS if all(abs(value - 1) <= allowed.get(name, LATENCY) for name, value in found.items()) else FAIL


def row(number: int, one: Round) -> str:
    """Return a line about a round."""
    if not one.valid:
        why = next((run.validity.reasons[0] for run in (one.alone, one.spread) if not run.valid), "nothing was answered")
        who = "alone" if not one.alone.valid else "spread"
        return f"{number:5}  INVALID ({who}): {why}"
    told = [f"{run.throughput:8.2f} {_ms(run, 50):8.2f} {_ms(run, 99):8.2f}" for run in (one.alone, one.spread)]
    ratios = f"{one.throughput:8.4f} {one.latency(50):8.4f} {one.latency(99):8.4f}"
    return f"{number:5}  {told[0]}   {told[1]}   {ratios}"


HEAD = (
    f"{'':5}  {'one machine':^26}   {'workers':^26}   {'ratio, without the way':^26}\n"
    f"{'round':5}  " + 2 * f"{'/s':>8} {'p50 ms':>8} {'p99 ms':>8}   " + f"{'/s':>8} {'p50':>8} {'p99':>8}"
)


def _ms(run: Run, percent: float) -> float:
    return (run.latency_ns(percent) or 0) / 1e6
