"""The tables of `batchproof lab gates`, made from all decisions that a folder has."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from batchproof.bench.ab.gates import rivals
from batchproof.bench.ab.gates.cases import Case
from batchproof.bench.ab.gates.trials import made
from batchproof.bench.ab.question import BASE, NEW
from batchproof.reports.wording import table
from batchproof.stats.change import CHANGES, SLOWER
from batchproof.stats.quantiles import CONFIDENCE, share_bounds

Trials = Sequence[Mapping[str, Any]]
NAMES = {"typical throughput": "typical_rows_per_s", "mean throughput": "rows_per_s"}


def print_tables(folder: Path) -> None:
    """Print how often each gate said what, how long ours took, and what was measured."""
    found = {path.stem: trials for path in sorted(folder.glob("*.jsonl")) if (trials := made(path))}
    if not found:
        print(f"{folder} has no decisions: say how many to make with --decisions")
        return
    print(markdown(found))


def markdown(found: Mapping[str, Trials]) -> str:
    """Return the tables. found: the decisions of each case by its name."""
    return "\n\n".join(
        [
            table(("case", "decisions", *CHANGES, "SLOWER at least", "at most"), list(_answers(found)), _numbers(2)),
            table(("case", "figure", *CHANGES), list(_by_figure(found)), _numbers(0)),
            table(("case", *rivals.RULES, *(f"{name}, stored" for name in rivals.RULES)), list(_rivals(found))),
            table(
                ("case", "true change", "median s", "90 % s", "longest s", "pairs", "spread", "load"), list(_times(found))
            ),
        ]
    )


def _numbers(more: int) -> tuple[str, ...]:
    return ("decisions", *CHANGES, *("SLOWER at least", "at most")[:more])


def _answers(found: Mapping[str, Trials]) -> Iterator[list[str]]:
    """Yield a row for each case: how often the gate as a whole said what, with bounds of the rate of SLOWER."""
    for name, trials in found.items():
        counts = Counter(one["answer"] for one in trials)
        low, high = share_bounds(counts[SLOWER], len(trials), CONFIDENCE)
        bounds = (f"{100 * low:.1f} %", f"{100 * high:.1f} %")
        yield [name, str(len(trials)), *(str(counts[word]) for word in CHANGES), *bounds]


def _by_figure(found: Mapping[str, Trials]) -> Iterator[list[str]]:
    for name, trials in found.items():
        for figure in NAMES:
            counts = Counter(one["answers"][figure]["answer"] for one in trials)
            yield [name, figure, *(str(counts[word]) for word in CHANGES)]


def _rivals(found: Mapping[str, Trials]) -> Iterator[list[str]]:
    """Yield a row for each case: how often each other rule said that the new side is slower."""
    for name, trials in found.items():
        counts = [rivals.slower(trials, rule, stored=stored) for stored in (False, True) for rule in rivals.RULES.values()]
        yield [name, *(f"{said} of {of}" for said, of in counts)]


def _times(found: Mapping[str, Trials]) -> Iterator[list[str]]:
    """Yield a row for each case: the change as all its pairs show it, and the time that the gate took."""
    for name, trials in found.items():
        typical = NAMES["typical throughput"]
        ratios = [_logs(one, typical) for one in trials]
        middle = math.exp(statistics.median([one for logs in ratios for one in logs])) - 1
        nominal = Case(trials[0]["target"], trials[0]["percent"]).nominal - 1
        spread = statistics.median(_spread(logs) for logs in ratios if logs)
        seconds = sorted(one["took_s"] for one in trials)
        yield [
            name,
            f"{100 * middle:+.2f} % (by design {100 * nominal:+.2f} %)",
            f"{statistics.median(seconds):.0f}",
            f"{seconds[math.ceil(0.9 * len(seconds)) - 1]:.0f}",
            f"{seconds[-1]:.0f}",
            f"{statistics.median(len(one['pairs']) for one in trials):.0f}",
            f"{100 * spread:.1f} %",
            f"{statistics.median(load for one in trials for load in one['load']):.0f}",
        ]


def _logs(trial: Mapping[str, Any], value: str) -> list[float]:
    return [math.log(pair[NEW][value] / pair[BASE][value]) for pair in trial["pairs"] if not pair["dropped"]]


def _spread(logs: Sequence[float]) -> float:
    """Return a robust standard deviation."""
    middle = statistics.median(logs)
    return 1.4826 * statistics.median(abs(one - middle) for one in logs)
