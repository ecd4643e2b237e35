"""summary.md: what a person reads first, from the verdict in words down to how the run was started."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from batchproof.reports import failure, picture
from batchproof.reports.causes import causes, followers
from batchproof.reports.formats.jsonl import Line
from batchproof.reports.formats.report import Report
from batchproof.reports.headline import headline, scope
from batchproof.reports.wording import cell, count, fenced, host_in_words, link, number, table

LEGEND = f"In the pictures: `{picture.LEGEND}`"
BAD = ("FAIL", "ERROR", "INCONCLUSIVE")  # in the order in which a person wants to read them
NOT_JUDGED = ("UNSUPPORTED", "SKIPPED", "NOT_OBSERVABLE")


_Row = tuple[str, ...]


def to_markdown(report: Report) -> str:
    """Return the summary of one report. Nothing that the target said can become markup or HTML in it."""
    parts = [
        f"# Batchproof: {cell(report.target)}",
        f"**{cell(headline(report))}** ({cell(scope(report))})",
        " · ".join(f"{many} {cell(verdict)}" for verdict, many in report.counts.items()),
        *warning(report),
        *_section("Rules", _areas(report)),
        *_section("Failures", _failures(report)),
        *_section("What follows from other failures", _following(report)),
        *_section("Known issues", _known(report)),
        *_section("Observed", _rows_of(report, ("OBSERVED",), ("rule", "title", "observed"), _observed)),
        *_section("Not judged", _rows_of(report, NOT_JUDGED, ("rule", "verdict", "reason"), _not_judged)),
        *_section("Would fail if it were claimed", _unclaimed(report)),
        *_section("Measures", _measures(report)),
        *_section("How it was run", [_run(report)]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def word(verdict: str, bad: Sequence[str] = BAD) -> str:
    """Return a verdict as it stands in a table: what needs attention is bold."""
    return f"**{verdict}**" if verdict in bad else cell(verdict)


def warning(report: Report) -> Iterator[str]:
    """Yield why the report is not whole, and which rules have no result."""
    if report.footer is None:
        where = "in the middle of a line" if report.cut else "before its footer"
        why = f"**Truncated.** The report ends {where}: the run was killed or is still going on."
    elif not report.footer["complete"]:
        why = f"**Ended early.** {cell(report.footer['reason']) or 'The report gives no reason.'}"
    else:
        return
    missing = ", ".join(map(cell, report.missing))
    yield f"> {why}" + (f"\n> Without a result: {missing}." if missing else "")


def _section(title: str, parts: Sequence[str]) -> list[str]:
    return [f"## {title}", *parts] if parts else []


def _areas(report: Report) -> list[str]:
    heads = ("verdict", "rule", "level", "title", "attempts", "seconds")
    parts = []
    for name, results in report.areas().items():
        rows = [
            (word(r["verdict"]), *map(cell, (r["rule"], r["level"], r["title"], r["attempts"])), f"{r['seconds']:.2f}")
            for r in results
        ]
        parts += [f"### {cell(name)}", table(heads, rows, right=("attempts", "seconds"))]
    return parts


def _failures(report: Report) -> list[str]:
    """Causes in full, each with a table of what follows from it; then what follows from known issues."""
    explained, following = causes(report.results), followers(report.results)
    roots = [result for result in _ended(report, BAD) if result["rule"] not in explained]
    roots.sort(key=lambda result: BAD.index(result["verdict"]))
    parts: list[str] = []
    for result in roots:
        parts.append(fenced(failure.text(result, report.attempts, report.header)))
        parts += _table_of(following.pop(result["rule"], []))
    for rule, results in following.items():
        parts += [f"These follow from the known issue {cell(rule)}:", *_table_of(results)]
    return [*parts, LEGEND] if parts else []


def _table_of(results: Sequence[Line]) -> list[str]:
    heads = ("follows from it", "verdict", "title", "actual")
    rows = [[cell(text) for text in (r["rule"], r["verdict"], r["title"], r["actual"])] for r in results]
    return [table(heads, rows)] if rows else []


def _following(report: Report) -> list[str]:
    explained = causes(report.results)
    results = [result for result in _ended(report) if result["rule"] in explained]
    texts = [failure.text(one, report.attempts, report.header, cause=explained[one["rule"]]) for one in results]
    return [*map(fenced, texts), LEGEND] if texts else []


def _unclaimed(report: Report) -> list[str]:
    results = [result for result in _ended(report) if result.get("told") == "fail"]
    blocks = [fenced(failure.text(result, report.attempts, report.header)) for result in results]
    return [*blocks, LEGEND] if blocks else []


def _known(report: Report) -> list[str]:
    rows = [
        (cell(r["rule"]), cell(r["title"]), cell(r["reason"] or r["actual"]), link(r["link"]))
        for r in _ended(report, ("KNOWN",))
    ]
    return [table(("rule", "title", "reason", "link"), rows)] if rows else []


def _rows_of(report: Report, verdicts: Sequence[str], heads: Sequence[str], row: Callable[[Line], _Row]) -> list[str]:
    rows = [[cell(text) for text in row(result)] for result in _ended(report, verdicts)]
    return [table(heads, rows)] if rows else []


def _observed(result: Line) -> _Row:
    return result["rule"], result["title"], result["actual"] or result["reason"]


def _not_judged(result: Line) -> _Row:
    return result["rule"], result["verdict"], result["reason"] or result["actual"]


def _measures(report: Report) -> list[str]:
    rows = [
        (cell(result["rule"]), cell(name), cell(number(value)))
        for result in _ended(report)
        for name, value in result["measures"].items()
    ]
    return [table(("rule", "measure", "value"), rows, right=("value",))] if rows else []


def _run(report: Report) -> str:
    header, target = report.header, report.header["target"]
    facts = {
        "target": f"{report.target} {target['contact']}",
        "reached": target["reached"],
        "sight": target["sight"],
        "claims": ", ".join(f"{name} = {value}" for name, value in target["claims"].items()),
        "selected": f"{count(len(header['rules']), 'rule')}, {scope(report)}",
        "seed": header["seed"],
        "patience": header["patience"],
        **circumstances(header, report.footer),
    }
    return table(("fact", "value"), [(name, cell(value)) for name, value in facts.items() if value != ""])


def circumstances(header: Line, footer: Line | None) -> dict[str, Any]:
    """Return where, when and by which command it was run, and how it ended."""
    return {
        "host": host_in_words(header["host"]),
        "batchproof": header["batchproof"],
        "started": header["started"],
        "ended": footer["ended"] if footer else "never",
        "exit status": footer["exit_status"] if footer else "none",
        "command": header["command"],
    }


def _ended(report: Report, verdicts: Sequence[str] = ()) -> Iterator[Line]:
    """The results with one of these verdicts (all results if none is given), in the order of the selection."""
    for results in report.areas().values():
        yield from (result for result in results if not verdicts or result["verdict"] in verdicts)
