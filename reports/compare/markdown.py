"""A comparison as the summary of a pull request: five lines and a table."""

from __future__ import annotations

from batchproof.reports.compare.comparison import Comparison
from batchproof.reports.compare.words import HEADS, cells, context, headline, noteworthy
from batchproof.reports.wording import cell, table

MOST = 40  # rows: a pull request is read on a page
NUMBERS = ("base", "new", "change", "interval", "runs")


def to_markdown(found: Comparison) -> str:
    """Return Markdown in which nothing that a report said can become markup or HTML."""
    first, *rest = (headline(found), *context(found))
    lines = [f"**{cell(first)}**", *map(cell, rest)]
    rows = noteworthy(found)
    shown = [[cell(text) for text in cells(row)] for row in rows[:MOST]]
    heads = [*HEADS[:-1], "note"]
    noted = any(row[-1] for row in shown)
    columns = heads if noted else heads[:-1]
    told = table(columns, [row[: len(columns)] for row in shown], right=NUMBERS)
    more = f"\n\n{len(rows) - MOST} more rows are not shown." if len(rows) > MOST else ""
    return "  \n".join(lines) + f"\n\n{told}{more}\n"
