"""Stacks x areas, and rules x stacks: what each stack keeps, from its report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from batchproof.reports.formats.report import Report, area
from batchproof.reports.matrix import names_of, titles_of, verdict_of
from batchproof.reports.wording import cell, count, line, table

FAILED, UNCLEAR = ("FAIL", "KNOWN"), ("INCONCLUSIVE", "ERROR")
LEGEND = (
    "`7/8`: 7 of 8 rules hold. `✗1`: one fails. `?1`: one could not be decided. "
    "The others are not claimed, or cannot be observed. `-`: nothing was judged. Empty: the run did not select the area."
)


class MixedError(Exception):
    """The reports were judged by different catalogues; the message names two of them."""


class NoAreaError(Exception):
    """A pattern matches no area of the reports; the message lists the areas."""


@dataclass(frozen=True)
class Grid:
    """A table of plain text. What targets said in it is not escaped yet."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def grids(reports: Sequence[Report], patterns: Sequence[str] = ("*",)) -> list[Grid]:
    """Return a grid for each family of areas (DB, PERF, CFG) that match a pattern: a row for each report.

    MixedError if the reports do not compare, NoAreaError if a pattern matches nothing.
    """
    check_catalogue(reports)
    families: dict[str, dict[str, None]] = {}
    names = dict.fromkeys(area(rule) for report in reports for rule in report.header["rules"])
    if empty := [pattern for pattern in patterns if not any(fnmatchcase(name, pattern) for name in names)]:
        raise NoAreaError(f"no area matches '{empty[0]}': choose from {', '.join(names)}")
    for name in names:
        if any(fnmatchcase(name, pattern) for pattern in patterns):
            families.setdefault(name.partition("-")[0], {})[name] = None
    return [_grid(reports, family, tuple(areas)) for family, areas in families.items()]


def by_rule(reports: Sequence[Report]) -> Grid:
    """Return a grid with a row for each rule and a column for each report: `-` where a rule was not selected."""
    check_catalogue(reports)
    heads = ("rule", *map(stack, reports, names_of(reports)))
    return Grid(heads, tuple((rule, *(verdict_of(report, rule) for report in reports)) for rule in titles_of(reports)))


def check_catalogue(reports: Sequence[Report]) -> None:
    """Raise MixedError if two reports were judged by different rules."""
    first, *others = reports
    for other in others:
        if _catalogue(first) != _catalogue(other) or _common(first, other) != _common(other, first):
            raise MixedError(
                f"{_described(first)} and {_described(other)} were judged by different catalogues of rules: "
                "judge both again with one version of Batchproof"
            )


def markdown(tables: Sequence[Grid], *notes: str) -> str:
    """Return the grids as tables of markdown, then the notes. Nothing that a target said can become markup."""
    parts = [table([cell(head) for head in one.heads], [[cell(text) for text in row] for row in one.rows]) for one in tables]
    return "\n\n".join([*parts, *notes]) + "\n"


def dated(reports: Sequence[Report]) -> str:
    """Return when and with which version the reports were made."""
    days = sorted({str(report.header["started"])[:10] for report in reports})
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    rules = count(len(titles_of(reports)), "rule")
    return f"Judged {when} by {rules} of Batchproof {line(reports[0].header['batchproof'])}."


def stack(report: Report, name: str) -> str:
    """Return the head of a report's row; a report that is not whole says so."""
    if report.truncated:
        return f"{name} (truncated)"
    return name if (report.footer or {})["complete"] else f"{name} (ended early)"


def _grid(reports: Sequence[Report], family: str, areas: Sequence[str]) -> Grid:
    heads = ("stack", *(one.removeprefix(f"{family}-") for one in areas))
    rows = zip(map(stack, reports, names_of(reports)), reports, strict=True)
    return Grid(heads, tuple((name, *(_counts(report, one) for one in areas)) for name, report in rows))


def _counts(report: Report, name: str) -> str:
    verdicts = [str(result["verdict"]) for result in report.results if area(result["rule"]) == name]
    selected = sum(area(rule) == name for rule in report.header["rules"])
    holds, fails, unclear = (sum(one in words for one in verdicts) for words in (("PASS",), FAILED, UNCLEAR))
    if not selected:
        return ""
    if not holds + fails + unclear:
        return "-"
    return f"{holds}/{selected}" + (f" ✗{fails}" if fails else "") + (f" ?{unclear}" if unclear else "")


def _catalogue(report: Report) -> tuple[object, ...]:
    header = report.header
    return header["batchproof"], header.get("catalogue"), tuple(sorted(header["must_rules"].items()))


def _common(report: Report, other: Report) -> dict[str, tuple[str, str]]:
    """Return level and title of the rules for which both have a result."""
    both = {result["rule"] for result in other.results}
    return {one["rule"]: (one["level"], one["title"]) for one in report.results if one["rule"] in both}


def _described(report: Report) -> str:
    return f"{report.target} (Batchproof {report.header['batchproof']}, {report.header['started'][:10]})"
