"""Several targets side by side: one row for each rule, one column for each target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from batchproof.reports.formats.report import Report, area, read
from batchproof.reports.headline import ending, headline, scope
from batchproof.reports.markdown import warning, word
from batchproof.reports.wording import cell, table


def matrix(reports: Sequence[Report]) -> str:
    """Return the verdicts as a table of markdown: `-` where a rule was not selected, `?` where it has no result."""
    return _table(reports, titles_of(reports), foot=True)


def combine(folders: Iterable[str | Path]) -> str:
    """Return the summary of several report folders; ReportError if one of them is not a report.

    It says how each target ended, then the rules on which the targets differ, then all rules.
    """
    reports = [read(folder) for folder in folders]
    names = names_of(reports)
    ends = []
    for name, report in zip(names, reports, strict=True):
        ends.append(f"- **{cell(name)}**: {cell(headline(report))} ({cell(scope(report))})")
        ends += [f"  {part}" for text in warning(report) for part in text.splitlines()]
    parts = ["# Batchproof: " + ", ".join(map(cell, names)), "\n".join(ends)]
    titles = titles_of(reports)
    differ = {rule: title for rule, title in titles.items() if len({verdict_of(report, rule) for report in reports}) > 1}
    if len(reports) > 1:
        parts += ["## Where they differ", _table(reports, differ, foot=False) if differ else "Nowhere."]
    return "\n\n".join([*parts, "## All rules", _table(reports, titles, foot=True)]) + "\n"


def _table(reports: Sequence[Report], titles: dict[str, str], *, foot: bool) -> str:
    heads = ("rule", "title", *map(cell, names_of(reports)))
    rows = [(cell(rule), cell(titles[rule]), *(word(verdict_of(one, rule)) for one in reports)) for rule in titles]
    if foot:
        rows.append(("", "", *(ending(report) for report in reports)))
    return table(heads, rows)


def verdict_of(report: Report, rule: str) -> str:
    """Return a rule's verdict: `-` if it was not selected, `?` if it has no result."""
    if rule not in report.header["rules"]:
        return "-"
    return next((str(result["verdict"]) for result in report.results if result["rule"] == rule), "?")


def titles_of(reports: Sequence[Report]) -> dict[str, str]:
    """Return every selected rule with its title. A rule that only a later target has is put with the others of its area."""
    titles = dict.fromkeys((rule for report in reports for rule in report.header["rules"]), "")
    titles.update((result["rule"], result["title"]) for report in reports for result in report.results)
    areas = list(dict.fromkeys(map(area, titles)))
    return {rule: titles[rule] for rule in sorted(titles, key=lambda rule: areas.index(area(rule)))}


def names_of(reports: Sequence[Report]) -> list[str]:
    """Return the heads of the columns. Equal names are told apart by how the target was reached, or else by numbers."""
    names = [report.target for report in reports]
    reached = [str(report.header["target"]["reached"]).partition("?")[0] for report in reports]
    longer = [f"{name} ({how})" if names.count(name) > 1 else name for name, how in zip(names, reached, strict=True)]
    names = longer if len(set(longer)) == len(longer) else names
    return [f"{name} #{names[:at].count(name) + 1}" if names.count(name) > 1 else name for at, name in enumerate(names)]
