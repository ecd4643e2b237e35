"""Sequences: steps a second and the latency of a step, against the number of open sequences, for each strategy.

In a closed loop so many sequences stay open, and each sends its next step when the last one is answered, as a text grows
token by token. In an open loop sequences arrive by chance, and each has a step at a steady pace, as a camera has. One
sequence at a time alongside as many as there are slots says what batching gains (as in `naive`, by the same gate).
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from batchproof.bench.calibration import Calibrate, Calibration
from batchproof.bench.each_work import measured, summed_up
from batchproof.bench.measurement import Bench
from batchproof.bench.measurements import naive
from batchproof.bench.result import Result
from batchproof.load.generation.lengths import Lengths
from batchproof.load.runs import Run
from batchproof.load.sequences import Mix, keep_open, open_at_once, paced, play
from batchproof.load.workload import MS, Served, Work
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.reference_batcher.sequence_config import DIRECT, OLDEST, SequenceBatching
from batchproof.stats import gates
from batchproof.stats.gates import PASS, Conclusion, worst
from batchproof.stats.percentile import fewest
from batchproof.targets.claims import unmet

NEEDS = ("sequences",)
SLOTS = 8
IDLE_NS = 20_000 * MS  # nothing ends a sequence but its END
FIXED = Mix("fixed", (Lengths(16),))
MIXES = (FIXED, Mix("lognormal", (Lengths(16, 1.0, 128),)), Mix("ones-beside-long", (Lengths(1), Lengths(64))))
SHORT = Mix("fixed", (Lengths(8),))  # those that arrive
COUNTS = (1, 2, 4, 8, 16, 32), (1, 4, 8, 16)  # full, quick; beyond SLOTS, sequences wait for a slot
CLOSED_S = (3.0, 0.6)
SLOT_LOADS = (0.3, 0.6, 0.9), (0.6,)  # how many sequences are open in the mean, as a share of the slots
OPEN_S = (20.0, 5.0)
ENOUGH = fewest(99) + 8
SLACK = 2  # how many times longer than a run of all slots the pace of the steps is


@dataclass(frozen=True, eq=False)
class Held:
    """One load. lengths: the name of its mix. sequences: how many are open, in the mean of an open loop; None: unknown.

    load: the share of the slots that an open loop is to take; 0: a closed loop. filled: the share of the slots that have a
    request in a run of the model; None where the answers do not say. samples: their file within the report folder.
    """

    strategy: str
    lengths: str
    sequences: float | None
    run: Run
    filled: float | None
    load: float = 0.0
    samples: str = ""

    @property
    def name(self) -> str:
        """What is kept under this name, and told."""
        return f"{self.strategy}, {self.load:g} of the slots" if self.load else f"{self.strategy}, {self.sequences:g} open"

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        about = {"strategy": self.strategy, "lengths": self.lengths, "open": self.sequences, "load": self.load}
        return {**about, "filled": self.filled, "samples": self.samples, **self.run.summary()}


@dataclass(frozen=True, eq=False)
class Gain:
    """One sequence at a time against as many as there are slots. reasons: why too few pairs are valid."""

    strategy: str
    conclusion: Conclusion
    alone_per_s: tuple[float, ...]
    batched_per_s: tuple[float, ...]
    reasons: tuple[str, ...] = ()

    @property
    def says(self) -> str:
        """Its part of the headline."""
        if self.reasons:
            least = f"at least {self.conclusion.low:.2f}x" if self.conclusion.verdict == PASS else "inconclusive"
            return f"{self.strategy} {least}: the host stalled"
        most = statistics.median(self.batched_per_s)
        return f"{self.strategy} {self.conclusion.estimate:.2f}x one sequence at a time ({most:,.0f} steps/s)"

    def facts(self) -> dict[str, Any]:
        """Return JSON data. The rates of invalid pairs are under "discarded" and nowhere else."""
        rates = {"alone_per_s": list(self.alone_per_s), "batched_per_s": list(self.batched_per_s)}
        facts: dict[str, Any] = {"strategy": self.strategy, "reasons": list(self.reasons), "gate": naive.GATE}
        facts |= {"verdict": self.conclusion.verdict, "pairs": self.conclusion.n, "ratio_low": self.conclusion.low}
        if self.reasons:
            return {**facts, "discarded": rates}
        return {**facts, **rates, "ratio": self.conclusion.estimate, "ratio_high": self.conclusion.high}


@dataclass(frozen=True, eq=False)
class Stateful:
    """Sequences on one work. limit_per_s: the most steps a second that its curve allows; ceiling: what batching can gain."""

    slots: int
    gains: tuple[Gain, ...]
    held: tuple[Held, ...]
    ceiling: float
    limit_per_s: float

    @property
    def reasons(self) -> tuple[str, ...]:
        """The first reason against each load that is not a result."""
        of_gains = (f"{one.strategy}: {one.reasons[0]}" for one in self.gains if one.reasons)
        return (*of_gains, *(f"{one.name}: {one.run.validity.reasons[0]}" for one in self.held if not one.run.valid))

    @property
    def valid(self) -> bool:
        """Every load is a result."""
        return not self.reasons

    @property
    def verdict(self) -> str:
        """The worst gate's; "" for a model that cannot gain."""
        return worst(one.conclusion.verdict for one in self.gains) if self.ceiling >= naive.GATE else ""

    @property
    def says(self) -> str:
        """Its part of the headline."""
        told = ", ".join(one.says for one in self.gains)
        if self.ceiling < naive.GATE:
            return f"cannot gain from batching (ceiling {self.ceiling:.2f}x): not judged; {told}"
        return f"{told}; at most {self.ceiling:.2f}x is possible"

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        return {
            "valid": self.valid,
            "verdict": self.verdict,
            "reasons": list(self.reasons),
            "says": self.says,
            "slots": self.slots,
            "ceiling": self.ceiling,
            "limit_per_s": self.limit_per_s,
            "gains": [one.facts() for one in self.gains],
            "held": [one.facts() for one in self.held],
        }


def measure(bench: Bench, calibrate: Calibrate) -> Result:
    """Measure each work with each strategy that the target claims."""
    return summed_up(measured(bench.works, partial(of_work, bench, calibrate)))


def strategies(bench: Bench) -> tuple[str, ...]:
    """Return those that the target claims."""
    return tuple(one for one in (DIRECT, OLDEST) if not unmet(bench.target.info.claims, (f"sequences={one}|both",)))


def of_work(bench: Bench, calibrate: Calibrate, work: Work) -> Stateful:
    """Measure a work: the gain, then each number of open sequences, each mix of lengths, and each open loop."""
    gains: list[Gain] = []
    held: list[Held] = []
    slots = SLOTS
    for strategy in strategies(bench):
        sequence = SequenceBatching(strategy=strategy, max_sequence_idle_ns=IDLE_NS)
        config = bench.fitted(BatcherConfig(max_batch_size=SLOTS, sequence=sequence))
        slots = config.max_batch_size
        with bench.serve(work, config) as served:
            calibration = calibrate(work)
            gains.append(_gain(bench, served, strategy, slots, 1e9 / calibration.fastest_ns))
            held += _closed(bench, served, strategy, slots)
            held += _open(bench, served, strategy, slots, calibration)
    curve = calibrate(work).curve
    return Stateful(slots, tuple(gains), tuple(held), curve.ceiling(slots), curve.max_throughput(slots))


def _gain(bench: Bench, served: Served, strategy: str, slots: int, alone: float) -> Gain:
    def slice_of(sequences: int) -> Run:
        seconds = naive.SLICE_S[int(bench.quick)]
        return keep_open(served, FIXED, sequences, seconds=seconds, wait_ns=bench.wait_ns, seed=bench.seed)[0]

    pairs, reasons = naive.paired(bench, f"{strategy}, one sequence and {slots}", slice_of, slots, alone)
    conclusion = naive.judged(pairs, alone)
    one, all_slots = (tuple(run.throughput for run in side) for side in zip(*pairs, strict=True))
    return Gain(strategy, gates.withheld(conclusion) if reasons else conclusion, one, all_slots, reasons)


def _closed(bench: Bench, served: Served, strategy: str, slots: int) -> Iterator[Held]:
    counts = COUNTS[int(bench.quick)]
    asked = [(FIXED, count) for count in counts] + [(mix, 2 * slots) for mix in MIXES if mix is not FIXED]
    for mix, count in asked:
        bench.say(f"{served.work.name}: {strategy}, {count} open {'sequence' if count == 1 else 'sequences'}, {mix.name}")
        fill: list[float | None] = []

        def make(mix: Mix = mix, count: int = count, fill: list[float | None] = fill) -> Run:
            seconds = CLOSED_S[int(bench.quick)]
            steps = ENOUGH if mix is FIXED and count == slots else 0  # one p99 is known in the quick form, too
            how: dict[str, Any] = {"seconds": seconds, "wait_ns": bench.wait_ns, "seed": bench.seed, "steps": steps}
            run, mean = keep_open(served, mix, count, **how)
            fill.append(mean and mean / slots)
            return run

        run = bench.valid(make)
        kept = bench.keep(f"sequences-{served.work.name}-{strategy}-{mix.name}-{count}", run)
        yield Held(strategy, mix.name, count, run, fill[-1], samples=kept["samples"])


def _open(bench: Bench, served: Served, strategy: str, slots: int, calibration: Calibration) -> Iterator[Held]:
    pace_ns = round(SLACK * slots * 1e9 / calibration.curve.max_throughput(slots))
    for load in SLOT_LOADS[int(bench.quick)]:
        bench.say(f"{served.work.name}: {strategy}, {load:g} of the slots, in an open loop")
        rate = load * slots / (SHORT.mean * pace_ns / 1e9)
        seconds = max(OPEN_S[int(bench.quick)], ENOUGH / (rate * SHORT.mean))
        steps = paced(SHORT, rate, seconds, pace_ns, bench.seed)
        fill: list[float | None] = []

        def make(steps: Any = steps, fill: list[float | None] = fill) -> Run:
            run, mean = play(served, steps, wait_ns=bench.wait_ns, percent=99)
            fill.append(mean and mean / slots)
            return run

        run = bench.valid(make)
        kept = bench.keep(f"sequences-{served.work.name}-{strategy}-load-{load:g}", run)
        at_once = open_at_once(steps, run.samples.done_ns)
        yield Held(strategy, SHORT.name, at_once, run, fill[-1], load, kept["samples"])
