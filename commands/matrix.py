"""`batchproof matrix`: stacks x areas, or rules x stacks, from reports that were judged by one catalogue."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from batchproof.commands.report import found_in
from batchproof.exit_status import ExitStatus, refuse
from batchproof.reports import ReportError, read
from batchproof.reports.stacks import LEGEND, Grid, MixedError, NoAreaError, by_rule, dated, grids, markdown
from batchproof.reports.wording import cell, clean, line

BORDERS = 3  # columns of a terminal between two cells
STYLES = {"✗": "red", "FAIL": "red", "KNOWN": "red", "?": "yellow", "INCONCLUSIVE": "yellow", "ERROR": "yellow"}


def print_matrix(folders: Sequence[Path], areas: Sequence[str], *, rules: bool, as_markdown: bool) -> ExitStatus:
    """Print the matrix of the areas that match a pattern (all without one), or of the rules.

    MISUSE if a report cannot be read, or if two were judged by different catalogues.
    """
    try:
        reports = [read(folder) for folder in found_in(folders)]
        tables = [by_rule(reports)] if rules else grids(reports, areas or ("*",))
    except (ReportError, MixedError, NoAreaError) as error:
        return refuse(line(error))
    notes = [dated(reports)] if rules else [LEGEND, dated(reports)]
    if as_markdown:
        print(markdown(tables, *(note if note == LEGEND else cell(note) for note in notes)), end="")
        return ExitStatus.FINE
    console = Console(highlight=False)
    for part in (part for one in tables for part in folded(one, console.width)):
        console.print(_shown(part))
    for note in notes:
        console.print(Text(note.replace("`", "")))
    return ExitStatus.FINE


def folded(grid: Grid, width: int) -> Iterator[Grid]:
    """Yield the grid in parts that fit into this width. Each part has the first column, and at least one of the others."""
    wide = [max(len(line(row[at])) for row in (grid.heads, *grid.rows)) + BORDERS for at in range(len(grid.heads))]
    part = [0]
    for at in range(1, len(wide)):
        if len(part) > 1 and sum(wide[one] for one in (*part, at)) > width:
            yield _columns(grid, part)
            part = [0]
        part.append(at)
    yield _columns(grid, part)


def _columns(grid: Grid, which: Sequence[int]) -> Grid:
    return Grid(tuple(grid.heads[at] for at in which), tuple(tuple(row[at] for at in which) for row in grid.rows))


def _shown(grid: Grid) -> Table:
    shown = Table()
    for head in grid.heads:
        shown.add_column(Text(line(head)))
    for first, *cells in grid.rows:
        shown.add_row(Text(line(first)), *(Text(clean(text), style=_style(text)) for text in cells))
    return shown


def _style(text: str) -> str:
    kept = "green" if "/" in text or text == "PASS" else "dim"
    return next((style for sign, style in STYLES.items() if sign in text), kept)
