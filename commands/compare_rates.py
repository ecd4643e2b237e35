"""`batchproof lab compare-rates`: how often the gate against a baseline is wrong, from runs on this machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from batchproof.commands.compare import Usage, runs_in, share_of
from batchproof.exit_status import ExitStatus, refuse
from batchproof.reports import ReportError
from batchproof.reports.compare import NotComparable
from batchproof.reports.compare.rates import measuring, rates, spreads
from batchproof.reports.wording import line, table
from batchproof.stats.change import CHANGES, INVALID, Change


def print_rates(base: Path, new: Path | None, each: int, fail_if_slower: str, figures: str) -> ExitStatus:
    """Print a table of answers; MISUSE if the runs cannot be compared."""
    try:
        margin = share_of(fail_if_slower, "--fail-if-slower")
        sides = runs_in([base]), runs_in([new]) if new else []
        patterns = [word.strip() for word in figures.split(",") if word.strip()]
        sides = measuring(sides[0]), sides[1]
        found = rates(*sides, each=each, margin=margin, patterns=patterns)
        varies = spreads(*sides)
    except (Usage, ReportError, NotComparable, ValueError) as error:
        return refuse(line(error))
    against = f"{len(sides[0])} runs against {len(sides[1])}" if new else f"{len(sides[0])} runs against each other"
    print(f"{against}, {each} a side, margin {100 * margin:g} %\n")
    heads = ("figure", "comparisons", *CHANGES, "SLOWER of what could be judged", "spread of equal runs")
    print(table(heads, [_row(*one, varies) for one in found.items()], right=heads[1:]))
    return ExitStatus.FINE


def _row(figure: str, answers: Counter[Change], varies: Mapping[str, float]) -> tuple[str, ...]:
    judged = answers.total() - answers[INVALID]
    share = f"{100 * answers['SLOWER'] / judged:.2f} %" if judged else "-"
    told = f"{100 * varies[figure]:.1f} %" if figure in varies else "-"
    return figure, str(answers.total()), *(str(answers[word]) for word in CHANGES), share, told
