"""bench.md: the tables of a bench, derived from bench.jsonl alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from batchproof.reports.formats.bench import BenchReport, read
from batchproof.reports.formats.jsonl import Line
from batchproof.reports.markdown import circumstances, word
from batchproof.reports.wording import cell, number, table

DOCUMENT = "bench.md"
BAD = ("FAIL", "ERROR", "INVALID", "PARTLY", "INCONCLUSIVE")


def to_markdown(report: BenchReport) -> str:
    """Return the tables of a bench. Nothing that a target said can become markup or HTML in them."""
    form = "quick form" if report.header["quick"] else "full form"
    rows = [
        (word(one["word"], BAD), cell(one["measurement"]), cell(one["headline"]), f"{one['seconds']:.1f}")
        for one in report.measurements
    ]
    parts = [
        f"# Batchproof bench: {cell(report.target)}",
        f"{form.capitalize()}, seed {cell(report.header['seed'])}, under load: {cell(', '.join(report.header['works']))}.",
        *_warning(report),
        table(("", "measurement", "what it says", "seconds"), rows, right=("seconds",)) if rows else "",
        *(part for one in report.measurements for part in _measurement(one)),
        "## How it was run",
        _run(report),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _warning(report: BenchReport) -> Iterator[str]:
    missing = ", ".join(map(cell, report.missing))
    if report.footer is None:
        where = "in the middle of a line" if report.cut else "before its footer"
        why = f"**Truncated.** The bench ends {where}: it was killed or is still going on."
    elif not report.footer["complete"]:
        why = f"**Ended early.** {cell(report.footer['reason']) or 'No reason is given.'}"
    else:
        return
    yield f"> {why}" + (f"\n> Not measured: {missing}." if missing else "")


def _measurement(one: Line) -> Iterator[str]:
    if one["word"] == "SKIPPED":
        return
    yield f"## {cell(one['measurement'])}: {cell(one['question'])}"
    if one["reasons"]:
        spoilt = "**Not all of it is valid**" if one["word"] == "PARTLY" else "**Invalid**, so no result"
        lead = "Why" if one["valid"] else spoilt
        yield f"{lead}:\n\n" + "\n".join(f"- {cell(reason)}" for reason in one["reasons"])
    for shown in one["tables"]:
        yield f"### {cell(shown['title'])}"
        rows = [["-" if value is None else cell(number(value)) for value in row] for row in shown["rows"]]
        figures = [head for at, head in enumerate(shown["heads"]) if any(_figure(row[at]) for row in shown["rows"])]
        if rows:
            yield table([cell(head) for head in shown["heads"]], rows, right=[cell(head) for head in figures])
        if shown.get("note"):
            yield cell(shown["note"])


def _figure(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _run(report: BenchReport) -> str:
    about = {"target": report.target, "reached": report.header["target"]["reached"]}
    facts = about | circumstances(report.header, report.footer)
    return table(("fact", "value"), [(name, cell(value)) for name, value in facts.items()])


def write(folder: str | Path) -> Path:
    """Read `bench.jsonl` in a folder and write bench.md next to it; ReportError as in `read`."""
    text = to_markdown(read(folder))
    path = Path(folder) / DOCUMENT
    path.write_text(text, encoding="utf-8", newline="\n")
    return path
