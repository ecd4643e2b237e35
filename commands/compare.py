"""`batchproof compare`: runs against a stored baseline, figure by figure."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from batchproof.exit_status import ExitStatus, refuse
from batchproof.reports import Measured, ReportError, measured
from batchproof.reports.compare import Comparison, NotComparable, to_markdown
from batchproof.reports.compare import compare as compare_runs
from batchproof.reports.compare.stored import as_stored, is_stored, stored
from batchproof.reports.compare.words import HEADS, cells, context, headline, noteworthy
from batchproof.reports.history import HistoryError, HistoryUnavailable
from batchproof.reports.history.folders import NoFigures
from batchproof.reports.measured import FILES
from batchproof.reports.wording import line
from batchproof.stats.change import FASTER, INVALID, SAME, SLOWER, UNPROVEN

STYLES = {SLOWER: "bold red", FASTER: "bold green", UNPROVEN: "yellow", INVALID: "bold yellow", SAME: "dim"}
STATUSES = {
    FASTER: ExitStatus.FINE,
    SAME: ExitStatus.FINE,
    UNPROVEN: ExitStatus.INCONCLUSIVE,
    INVALID: ExitStatus.INCONCLUSIVE,
    SLOWER: ExitStatus.FAILED,
}

WIDEST = 1000  # characters of a line: an id that is cut off could not be given to --figures


class Usage(Exception):
    """The options make no sense; the message says what would."""


@dataclass(frozen=True)
class CompareOptions:
    """The options of the command line.

    base, new: folders, files, or runs of the history `store` (`history:12,13`). figures: patterns, separated by commas.
    run_spread: what is assumed of equal runs if there is one a side. form: text, json or markdown. everything: print the
    figures without a change, too.
    """

    base: Sequence[str]
    new: Sequence[str]
    fail_if_slower: str = "5%"
    run_spread: str = "2%"
    figures: str = ""
    correct: bool = False
    form: str = "text"
    everything: bool = False
    store: str = ""


def compare(options: CompareOptions) -> ExitStatus:
    """Compare, and print the comparison; return FAILED if a figure that decides is SLOWER."""
    try:
        margin = share_of(options.fail_if_slower, "--fail-if-slower")
        run_spread = share_of(options.run_spread, "--run-spread")
        base, new = sides(options.base, options.new, options.store)
        patterns = [word.strip() for word in options.figures.split(",") if word.strip()]
        found = compare_runs(base, new, margin=margin, patterns=patterns, correct=options.correct, run_spread=run_spread)
    except (Usage, ReportError, NotComparable, HistoryError, NoFigures) as error:
        unavailable = isinstance(error, HistoryUnavailable)
        return refuse(line(error), ExitStatus.UNAVAILABLE if unavailable else ExitStatus.MISUSE)
    if options.form == "json":
        print(json.dumps(found.facts(), indent=2))
    elif options.form == "markdown":
        print(to_markdown(found), end="")
    else:
        tell(found, Console(highlight=False, soft_wrap=True), everything=options.everything)
    return STATUSES[found.change]


def share_of(text: str, option: str) -> float:
    """Return `5%` or `0.05` as a share; Usage if it is neither."""
    number = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+) ?(%?)", text.strip(), re.ASCII)
    share = float(number[1]) / (100 if number[2] else 1) if number else -1.0
    if not 0 <= share < 1:
        raise Usage(f"{option} {text}: give a share from 0 to below 1, such as 5% or 0.05")
    return share


def sides(base: Sequence[str], new: Sequence[str], store: str) -> tuple[list[Measured], list[Measured]]:
    """Read both sides. If one of them comes from the history, both are seen as it keeps them."""
    words = (base, new)
    if not any(map(is_stored, (*base, *new))):
        return runs_in(list(map(Path, base))), runs_in(list(map(Path, new)))
    found = [
        [run for word in side if is_stored(word) for run in stored(word, store)]
        + as_stored(runs_in([Path(word) for word in side if not is_stored(word)]))
        for side in words
    ]
    return found[0], found[1]


def runs_in(paths: Sequence[Path]) -> list[Measured]:
    """Read every run; a folder that is not a run but holds folders of runs stands for all of them.

    ReportError as in `measured`; Usage if one is given twice.
    """
    found = [run for path in paths for run in _runs_at(path)]
    where = [run.where.resolve() for run in found]
    if twice := [run for place, run in enumerate(where) if run in where[:place]]:
        raise Usage(f"{twice[0]} is given twice: a run counts once")
    return found


def _runs_at(path: Path) -> list[Measured]:
    if path.is_dir() and not any((path / name).exists() for name in FILES):
        inner = [one for one in sorted(path.iterdir()) if one.is_dir() and any((one / name).is_file() for name in FILES)]
        if inner:
            return [measured(one) for one in inner]
    return [measured(path)]


def tell(found: Comparison, console: Console, *, everything: bool) -> None:
    """Print the answer, what it rests on, and a table."""
    console.print(Text(headline(found), STYLES[found.change]))
    for told in context(found):
        console.print(Text(f"  {told}"))
    table = Table(box=SIMPLE, pad_edge=False)
    rows = list(found.rows) if everything else noteworthy(found)
    for place, head in enumerate(HEADS):
        if any(cells(row)[place] for row in rows):
            table.add_column(head, no_wrap=True, justify="right" if head in ("base", "new", "change") else "left")
    for row in rows:
        shown = [text for place, text in enumerate(cells(row)) if any(cells(one)[place] for one in rows)]
        table.add_row(Text(shown[0], STYLES[row.change]), *map(Text, shown[1:]))
    console.width = max(console.width, console.measure(table, options=console.options.update(max_width=WIDEST)).maximum)
    console.print(table)
