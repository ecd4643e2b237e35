"""A comparison in words: what every form of it says in the same way, for a terminal, for Markdown and for pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from batchproof.reports.compare.comparison import Compared, Comparison
from batchproof.reports.measured import Measured
from batchproof.reports.wording import count, line, number
from batchproof.stats.change import CHANGES, FASTER, INVALID, SAME, SLOWER
from batchproof.stats.intervals import Interval
from batchproof.stats.quantiles import CONFIDENCE

HEADS = ("", "figure", "base", "new", "change", "interval", "runs", "")
WRONG = f"{1 - CONFIDENCE:.0%}".replace("%", " %")
SHOWN = 3  # figures that the headline names
MS = 1e6


def headline(found: Comparison) -> str:
    """Return the answer in one sentence: the worst figures first, or how many are the same."""
    worst = [row for row in found.deciding if row.change == found.change]
    told = "; ".join(f"{row.id} {_how(row)}" for row in worst[:SHOWN])
    more = f" and {count(len(worst) - SHOWN, 'more')}" if len(worst) > SHOWN else ""
    return f"{found.change}: {told}{more}".replace("mores", "more")


def context(found: Comparison) -> tuple[str, str, str, str]:
    """Return what was compared with what, on which machine, by which gate, and what else is to be told: a line each."""
    return _sides(found), _machine(found), _gate(found), _others(found)


def cells(row: Compared) -> tuple[str, ...]:
    """Return a figure as the cells of a table with the heads of `HEADS`."""
    values = shown(row.base, row.unit), shown(row.new, row.unit)
    runs = "" if max(row.runs) <= 1 else f"{row.runs[0]} and {row.runs[1]}"
    return row.change, row.id, *values, percent(row.ratio), bounds(row.ratio), runs, row.why


def shown(value: float | None, unit: str) -> str:
    """Return a value with its unit; times are in milliseconds."""
    if value is None:
        return "-"
    if unit == "ns":
        return f"{number(value / MS)} ms"
    return number(float(value)) if unit == "1" else f"{number(float(value))} {line(unit)}"


def percent(ratio: Interval) -> str:
    """Return by how much new differs from base."""
    return "-" if ratio.estimate is None else _percent(ratio.estimate)


def bounds(ratio: Interval) -> str:
    """Return between which bounds it does."""
    if ratio.low is None and ratio.high is None:
        return "-"
    low, high = ("?" if one is None else _percent(one) for one in (ratio.low, ratio.high))
    return f"{low} to {high}"


def counted(rows: Sequence[Compared]) -> str:
    """Return how many figures had which answer, the worst first."""
    found = Counter(row.change for row in rows)
    return ", ".join(f"{found[word]} {word}" for word in reversed(CHANGES) if found[word])


def _percent(ratio: float) -> str:
    return f"{round(100 * (ratio - 1), 1) + 0.0:+.1f} %"  # + 0.0: no minus before nothing


def _how(row: Compared) -> str:
    if row.change == INVALID or row.ratio.estimate is None:
        return row.why
    told = f"{percent(row.ratio)} ({bounds(row.ratio)})" if bounds(row.ratio) != "-" else percent(row.ratio)
    return f"{told}{', ' * bool(row.why)}{row.why}"


def _sides(found: Comparison) -> str:
    return f"base: {_runs(found.base)}; new: {_runs(found.new)}"


def _runs(runs: Sequence[Measured]) -> str:
    started = sorted(line(run.header.get("started", "")) for run in runs)
    when = started[0] if len(runs) == 1 else f"{count(len(runs), 'run')}, {started[0]} to {started[-1]}"
    return f"{line(runs[0].target)} ({when})"


def _machine(found: Comparison) -> str:
    if found.correction is None:
        host = found.new[0].host
        words = [str(host[fact]) for fact in ("cpu", "kernel") if fact in host]
        kind = f"one kind of machine: {line(', '.join(words))}" if words else "one kind of machine"
        return "; ".join([kind, *found.notes])
    told = f"times may differ by {found.correction.least:.2f} to {found.correction.most:.2f}"
    return "; ".join([*found.notes, f"{told} ({', '.join(found.correction.parts)}), which is part of each interval"])


def _gate(found: Comparison) -> str:
    decide = "1 figure decides" if len(found.deciding) == 1 else f"{len(found.deciding)} figures decide"
    rests = f"the intervals come from the spread between runs: without a change, at most {WRONG} end as SLOWER"
    if found.assumes:
        rests = f"one result a side: equal runs are assumed to vary by {100 * found.run_spread:g} % (--run-spread)"
    elif max(len(found.base), len(found.new)) == 1:
        rests = "the intervals come from within one run a side"
    return f"margin {100 * found.margin:g} %; {decide}; {rests}"


def _others(found: Comparison) -> str:
    others = [row for row in found.rows if not row.decides]
    told = [f"{count(len(others), 'other figure')}: {counted(others)}"] if others else []
    told += [f"not in BASE: {len(found.appeared)}"] if found.appeared else []
    if gone := [row.id for row in found.rows if row.gone]:
        told.append(f"vanished: {', '.join(gone[:SHOWN])}" + (f" and {len(gone) - SHOWN} more" if len(gone) > SHOWN else ""))
    return "; ".join(told) or "every figure is in the table"


def noteworthy(found: Comparison) -> list[Compared]:
    """Return the figures that decide, and of the others those that changed or vanished."""
    return [row for row in found.rows if row.decides or row.change in (FASTER, SLOWER) or row.gone]


def unchanged(found: Comparison) -> bool:
    """Whether nothing is worse or unknown among the figures that decide."""
    return found.change in (FASTER, SAME)
