"""Reading `bench.jsonl`, and `bench.md`, which is derived from it alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from batchproof.reports.lines import Fields, Line, ReportError, checked, objects, opened, target_name
from batchproof.reports.markdown import circumstances, word
from batchproof.reports.wording import cell, number, table

FORMAT = 1
FILE = "bench.jsonl"
DOCUMENT = "bench.md"
BAD = ("FAIL", "ERROR", "INVALID", "PARTLY", "INCONCLUSIVE")

_FIELDS: Fields = {
    "header": {
        **dict.fromkeys(("batchproof", "started", "command"), str),
        **dict.fromkeys(("target", "host"), dict),
        **dict.fromkeys(("measurements", "works"), list),
        "seed": int,
        "quick": bool,
    },
    "measurement": {
        **dict.fromkeys(("measurement", "question", "word", "headline"), str),
        **dict.fromkeys(("reasons", "tables"), list),
        "valid": bool,
        "seconds": (int, float),
    },
    "footer": {"ended": str, "exit_status": int, "complete": bool, "reason": str, "names": list},
}


@dataclass(frozen=True)
class BenchReport:
    """One bench of one target, line by line as it was written. cut: the last line ends in the middle."""

    header: Line
    measurements: tuple[Line, ...]
    footer: Line | None
    cut: bool = False

    @property
    def truncated(self) -> bool:
        """It has no footer: the bench never got to its end."""
        return self.footer is None

    @property
    def target(self) -> str:
        """Name and version of what was measured."""
        return target_name(self.header)

    @property
    def missing(self) -> tuple[str, ...]:
        """The selected measurements that have no line."""
        have = {one["measurement"] for one in self.measurements}
        return tuple(name for name in self.header["measurements"] if name not in have)


def read(path: str | Path) -> BenchReport:
    """Read a bench file, or the `bench.jsonl` of a folder; ReportError says what is wrong with it."""
    with opened(path, FILE) as file:
        return _parse(file.read_bytes())


def _parse(raw: bytes) -> BenchReport:
    header: Line | None = None
    footer: Line | None = None
    found: list[Line] = []
    cut = False
    for at, line in objects(raw):
        if footer is not None:
            raise ReportError(f"line {at}: something follows the footer")
        if line is None:
            cut = True
            continue
        kind = _checked(line, at)
        if (kind == "header") is not (header is None):
            raise ReportError(f"line {at}: the first line, and no other, is the header")
        if kind == "header":
            header = line
        elif kind == "footer":
            footer = line
        else:
            found.append(line)
    if header is None:
        raise ReportError("it has no header, so this is no bench")
    _agree(header, found, footer)
    return BenchReport(header, tuple(found), footer, cut)


def _checked(line: Line, at: int) -> str:
    kind = checked(line, at, _FIELDS, FORMAT)
    if kind == "header" and not all(isinstance(line["target"].get(name), str) for name in ("name", "version", "reached")):
        raise ReportError(f"line {at}: the header's target has no name, version and way")
    for one in line.get("tables", ()):
        if not isinstance(one, dict) or not isinstance(one.get("title"), str) or not _square(one):
            raise ReportError(f"line {at}: a table of {line['measurement']} is none")
    return kind


def _square(one: dict[str, Any]) -> bool:
    heads, rows = one.get("heads"), one.get("rows")
    if not isinstance(heads, list) or not heads or not isinstance(rows, list):
        return False
    return all(isinstance(row, list) and len(row) == len(heads) for row in rows)


def _agree(header: Line, found: list[Line], footer: Line | None) -> None:
    names = [one["measurement"] for one in found]
    if strange := [name for name in names if name not in header["measurements"]]:
        raise ReportError(f"{', '.join(strange)} was measured, and the header did not select it")
    if len(set(names)) != len(names):
        raise ReportError("one measurement has two lines")
    if footer is not None and footer["names"] != names:
        raise ReportError("the footer names other measurements than there are")
    if footer is not None and footer["complete"] and set(header["measurements"]) - set(names):
        raise ReportError("incomplete although its footer says complete")


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
    """Read `bench.jsonl` in a folder and write bench.md beside it; ReportError as `read`."""
    text = to_markdown(read(Path(folder) / FILE))
    path = Path(folder) / DOCUMENT
    path.write_text(text, encoding="utf-8", newline="\n")
    return path
