"""Runs against a baseline: each figure with its answer, FASTER, SLOWER, SAME, UNPROVEN or INVALID, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from batchproof.reports.compare.machine import Correction, correction, differences, drift, known, simulated
from batchproof.reports.compare.ratio import MOST_RUNS, RUN_SPREAD, ratio, runs_needed
from batchproof.reports.figure_names import declared
from batchproof.reports.figures import OF_THE_HOST, Better, Figure
from batchproof.reports.measured import Measured
from batchproof.stats.change import INVALID, UNPROVEN, Change, change, worst
from batchproof.stats.gates import each_of
from batchproof.stats.intervals import Interval
from batchproof.stats.quantiles import CONFIDENCE

MARGIN = 0.05
GONE = "not measured in NEW"
HARDWARE = "a history knows a machine by its hardware alone: kernel and Python may differ"
ALIKE = {
    "form": "the form of their measurements",
    "quick": "the form (--quick)",
    "slo_ns": "the objective (--slo-p99-ms)",
    "price": "the price (--price-per-hour)",
}


class NotComparable(Exception):
    """These runs must not be compared; the message says why and what to do."""


@dataclass(frozen=True)
class Compared:
    """One figure on both sides.

    base, new: the (geometric) mean of the runs in which it is a result; None: there is none. runs: how many these are.
    ratio: new / base. why: what stands in the way of an answer. decides: the gate looks at it.
    """

    id: str
    unit: str
    better: Better
    base: float | None
    new: float | None
    runs: tuple[int, int]
    ratio: Interval
    change: Change
    decides: bool
    why: str = ""

    @property
    def gone(self) -> bool:
        """It was measured in every run of the base, and in no new one."""
        return self.why == GONE

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        interval = {"ratio": self.ratio.estimate, "low": self.ratio.low, "high": self.ratio.high}
        facts = {name: value for name, value in asdict(self).items() if name != "ratio"}
        return facts | {"runs": list(self.runs)} | interval


@dataclass(frozen=True)
class Comparison:
    """All figures of some runs against those of a base.

    rows: those that decide first. appeared: ids that only the new runs have. margin: what counts as no change. correction:
    for different machines; None: they are of one kind. run_spread: what is assumed of equal runs where a
    figure has one a side. notes: what a reader should know besides.
    """

    base: tuple[Measured, ...]
    new: tuple[Measured, ...]
    rows: tuple[Compared, ...]
    appeared: tuple[str, ...]
    margin: float
    confidence: float
    run_spread: float
    correction: Correction | None = None
    notes: tuple[str, ...] = ()

    @property
    def deciding(self) -> tuple[Compared, ...]:
        """The figures that the gate looks at."""
        return tuple(row for row in self.rows if row.decides)

    @property
    def assumes(self) -> bool:
        """Whether the spread of equal runs is assumed, because a figure that decides has one result a side."""
        return bool(self.run_spread) and any(row.runs == (1, 1) for row in self.deciding)

    @property
    def change(self) -> Change:
        """The worst answer among the figures that decide; INVALID if there are none."""
        return worst(tuple(row.change for row in self.deciding))

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        sides = {
            name: {"target": runs[0].target, "host": dict(runs[0].host), "runs": [str(run.where) for run in runs]}
            for name, runs in (("base", self.base), ("new", self.new))
        }
        how: dict[str, Any] = {"margin": self.margin, "confidence": self.confidence, "run_spread": self.run_spread}
        how["notes"] = list(self.notes)
        how |= {"correction": asdict(self.correction) if self.correction else None}
        rows = [row.facts() for row in self.rows]
        return {"change": self.change, **sides, **how, "figures": rows, "appeared": list(self.appeared)}


def compare(
    base: Sequence[Measured],
    new: Sequence[Measured],
    *,
    margin: float = MARGIN,
    patterns: Sequence[str] = (),
    correct: bool = False,
    run_spread: float = RUN_SPREAD,
) -> Comparison:
    """Compare runs with those of a base; NotComparable says why that would mislead, or that there is nothing to compare.

    margin: a change that is proved to be smaller is SAME. patterns: only figures whose id or name matches one, and all of
    them decide; empty: all figures, and those decide that the registry says (all if there are none of these). correct: if
    the machines differ, add what that may explain to the uncertainty, instead of refusing. run_spread: the standard
    deviation of equal runs, which is assumed if there is only one a side.
    """
    for run in (*base, *new):
        if run.truncated:
            raise NotComparable(f"{run.where} is truncated: the run never got to its end; measure again")
        if "questions" in run.header:
            advice = "which has its answer (ab.md): to compare two others, give both to one `ab`"
            raise NotComparable(f"{run.where} is a comparison of `ab`, {advice}")
    _same_settings(base, new)
    corrected, notes = _same_machine(base, new, margin, correct=correct)
    sides = [[{one.id: one for one in run.figures if _looked_at(one, patterns)} for run in runs] for runs in (base, new)]
    ids = [list(dict.fromkeys(name for run in side for name in run)) for side in sides]
    if patterns and not ids[0]:
        raise NotComparable(f"no figure of BASE matches {', '.join(patterns)}: `batchproof figures FOLDER` lists them")
    if not ids[0]:
        raise NotComparable(f"there is no figure in {base[0].where}: its measurements gave none")
    if ids[1] and not set(ids[0]) & set(ids[1]):
        raise NotComparable("BASE and NEW have no figure in common: they did not measure the same")
    deciding = _deciding(ids[0], everything=bool(patterns))
    confidence = each_of(CONFIDENCE, len(deciding))
    assumed = 0.0 if all(simulated(run) for run in (*base, *new)) else run_spread
    gate = _Gate(margin, confidence, assumed, corrected)
    rows = [_row(name, sides, gate, decides=name in deciding) for name in ids[0]]
    rows.sort(key=lambda row: not row.decides)
    early = [f"{run.where} ended early, without {', '.join(run.missing)}" for run in (*base, *new) if run.missing]
    appeared = tuple(name for name in ids[1] if name not in ids[0])
    told = (*notes, *early)
    return Comparison(tuple(base), tuple(new), tuple(rows), appeared, margin, confidence, assumed, corrected, told)


def _looked_at(one: Figure, patterns: Sequence[str]) -> bool:
    if one.name.startswith(OF_THE_HOST):
        return False
    shapes = [word.replace("[", "[[]") for word in patterns]  # the brackets of an id are meant, and no set of characters
    return not patterns or any(fnmatchcase(text, shape) for text in (one.id, one.name) for shape in shapes)


def _deciding(ids: Sequence[str], *, everything: bool) -> set[str]:
    """Return the ids that decide: those that the registry says, or all if it says so of none of these."""
    by_registry = {name for name in ids if (about := declared().get(name.partition("[")[0])) and about.decides}
    return set(ids) if everything or not by_registry else by_registry


@dataclass(frozen=True)
class _Gate:
    """What every figure is judged by."""

    margin: float
    confidence: float
    run_spread: float
    corrected: Correction | None


def _row(name: str, sides: Sequence[Sequence[Mapping[str, Figure]]], gate: _Gate, *, decides: bool) -> Compared:
    every = [[run[name] for run in side if name in run] for side in sides]
    one = every[0][0]
    foreign = _foreign(every)
    valid = [[] if foreign else [figure for figure in side if figure.valid] for side in every]
    found = ratio(valid[0], valid[1], gate.confidence, gate.run_spread)
    why = foreign or _why(every, valid, found)
    counts = len(valid[0]), len(valid[1])
    needed = "" if why else _needed(found, counts, gate.margin)
    if gate.corrected is not None and not why:
        needed = ""  # more runs do not make two machines one
        found, why = _with(gate.corrected, one, found)
    answer = INVALID if not found.n else UNPROVEN if found.estimate is None else change(found, gate.margin, one.better)
    why = why or needed * (answer == UNPROVEN)
    before, after = _middle(valid[0]), _middle(valid[1])
    return Compared(name, one.unit, one.better, before, after, counts, found, answer, decides, why)


def _foreign(every: Sequence[Sequence[Figure]]) -> str:
    """Return in what figures of one id are different figures; empty if they are one."""
    kinds = list(dict.fromkeys((one.unit, one.better) for side in every for one in side))
    told = " and ".join(f"{unit} ({better} is better)" for unit, better in kinds)
    return f"different figures of one name: {told}" if len(kinds) > 1 else ""


def _why(every: Sequence[Sequence[Figure]], valid: Sequence[Sequence[Figure]], found: Interval) -> str:
    """Return why there is no answer; empty if there may be one."""
    if not every[1]:
        return GONE
    if lacking := [side for side, results in zip(("BASE", "NEW"), valid, strict=True) if not results]:
        return f"not a result in {' and '.join(lacking)}"
    if found.estimate is None:
        return "there is no ratio to 0"
    return "one run has no interval here: compare several" if found.low is None and found.high is None else ""


def _needed(found: Interval, counts: tuple[int, int], margin: float) -> str:
    """Return how many runs would tell; empty if nothing is known of how they vary."""
    if found.low is None or found.high is None:
        return ""
    if margin <= 0:
        return "without a margin, no number of runs shows that nothing has changed"
    enough = runs_needed(found, *counts, margin)
    return f"{enough} runs a side would tell" if enough else f"more than {MOST_RUNS} runs a side: measure with `ab` instead"


def _with(corrected: Correction, one: Figure, found: Interval) -> tuple[Interval, str]:
    """Return the ratio without what the machines may explain of it, which makes the interval wider; or why that fails."""
    if not corrected.covers(one):
        return replace(found, estimate=None, low=None, high=None), "no yardstick measures a GPU: compare on one machine"
    least, most = corrected.explains(one)
    low = None if found.low is None else found.low / most
    high = None if found.high is None else found.high / least
    middle = None if found.estimate is None else found.estimate / (least * most) ** 0.5
    return replace(found, estimate=middle, low=low, high=high), ""


def _middle(figures: Sequence[Figure]) -> float | None:
    """Return the geometric mean of the values, or their arithmetic mean where one is not positive; None without any."""
    values = [one.value for one in figures]
    if not values:
        return None
    if len(values) == 1 or min(values) <= 0:
        return sum(values) / len(values)
    return float(values[0] * (ratio(figures[:1], figures).estimate or 1.0))


def _same_settings(base: Sequence[Measured], new: Sequence[Measured]) -> None:
    """Raise NotComparable if the runs were asked for different things."""
    first = base[0].header
    for run in (*base, *new):
        for setting, words in ALIKE.items():
            if run.header.get(setting) != first.get(setting):
                raise NotComparable(f"{base[0].where} and {run.where} differ in {words}: measure both in the same way")


def _same_machine(
    base: Sequence[Measured], new: Sequence[Measured], margin: float, *, correct: bool
) -> tuple[Correction | None, tuple[str, ...]]:
    """Return what the machines may explain (None: nothing), and notes; NotComparable if they differ and may not."""
    if all(simulated(run) for run in (*base, *new)):
        return None, ()
    for side, runs in (("BASE", base), ("NEW", new)):
        for run in runs[1:]:
            if unlike := differences(runs[0].host, run.host):
                raise NotComparable(
                    f"the runs of {side} come from different machines ({unlike[0]}): each side has to be one"
                )
    if silent := next((run for run in (base[0], new[0]) if not known(run.host)), None):
        apart: tuple[str, ...] = (f"nothing is known of that of {silent.where}",)
    else:
        apart = differences(base[0].host, new[0].host)
    if not apart:
        state = (f"the machine was not in the same state: {told}" for told in drift(base, new, margin))
        return None, (*[HARDWARE] * ("fingerprint" in base[0].host), *state)
    if not correct:
        told = "; ".join(apart)
        advice = "measure both on one machine, or add --correct, which costs certainty"
        raise NotComparable(f"BASE and NEW do not come from one kind of machine ({told}): {advice}")
    if (found := correction(base, new)) is None:
        raise NotComparable("--correct needs the yardsticks of both machines, and one has none: measure both again")
    return found, (f"different machines: {'; '.join(apart)}",)
