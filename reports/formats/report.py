"""report.jsonl: one run of the suite against one target. Read, checked against itself, and written line by line."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from batchproof.reports.formats import bundle
from batchproof.reports.formats.jsonl import Line, LineWriter, ReportError, lines, opened, prepared, target_name
from batchproof.reports.formats.schemas import version, words

NAME = "report"
FILE = f"{NAME}.jsonl"
FORMAT = version(NAME, "header")
VERDICTS = words(NAME, "verdict")  # best first


@dataclass(frozen=True)
class Report:
    """One run of the suite against one target, line by line as it was written.

    cut: the last line ends in the middle, so the run was killed while it wrote it.
    """

    header: Line
    attempts: tuple[Line, ...]
    results: tuple[Line, ...]
    footer: Line | None
    cut: bool = False

    @property
    def truncated(self) -> bool:
        """Whether it lacks the footer, because the run never got to its end."""
        return self.footer is None

    @property
    def target(self) -> str:
        """Name and version of what was judged."""
        return target_name(self.header)

    @property
    def missing(self) -> tuple[str, ...]:
        """The selected rules without a result."""
        have = {result["rule"] for result in self.results}
        return tuple(rule for rule in self.header["rules"] if rule not in have)

    @property
    def counts(self) -> dict[str, int]:
        """How many rules ended with each verdict, best first; verdicts that do not occur are left out."""
        found = Counter(result["verdict"] for result in self.results)
        return {verdict: found[verdict] for verdict in VERDICTS if found[verdict]}

    def areas(self) -> dict[str, tuple[Line, ...]]:
        """The results by area (`DB-DELAY` of `DB-DELAY-004`), areas and rules in the order of the selection."""
        by_rule = {result["rule"]: result for result in self.results}
        areas: dict[str, tuple[Line, ...]] = {}
        for rule in self.header["rules"]:
            if rule in by_rule:
                areas[area(rule)] = (*areas.get(area(rule), ()), by_rule[rule])
        return areas


def area(rule: str) -> str:
    """Return the part of a rule's id before its number."""
    return rule.rpartition("-")[0] or rule


def read(path: str | Path, *, own: bool = False) -> Report:
    """Read a report file, or the `report.jsonl` of a folder; ReportError says what is wrong with it.

    own: the run that wrote it has read it back, so only what its lines say together is checked, and not the form of each.
    """
    with opened(path, FILE) as raw:
        found = lines(raw, NAME, own=own)
        attempts, results = (tuple(one for one in found.body if one["type"] == kind) for kind in ("attempt", "result"))
        report = Report(found.header, attempts, results, found.footer, found.cut)
        _agree(report)
    return report


def end_early(folder: Path, exit_status: int, reason: str) -> Report:
    """Write the footer of a run that was ended before it could do so itself; return the report.

    A last line that ends in the middle is removed. ReportError or OSError if that cannot be.
    """
    path = folder / FILE
    report = read(path)
    if not report.truncated:
        return report
    raw = path.read_bytes()
    if report.cut or not raw.endswith(b"\n"):
        path.write_bytes(raw[: raw.rfind(b"\n") + 1] if report.cut else raw + b"\n")
    end = LineWriter(path, NAME, more=True)
    end.footer(exit_status, complete=False, reason=reason, counts=report.counts)
    return read(path)


def _agree(report: Report) -> None:
    """Compare what the header promised, what the results say and what the footer says."""
    selected = set(report.header["rules"])
    for line in (*report.attempts, *report.results):
        if line["rule"] not in selected:
            raise ReportError(f"{line['type']} for {line['rule']}, which the header did not select")
    twice = [rule for rule, count in Counter(result["rule"] for result in report.results).items() if count > 1]
    if twice:
        raise ReportError(f"more than one result for {', '.join(twice)}")
    if report.footer is None:
        return
    if report.footer["complete"] and report.missing:
        raise ReportError(f"incomplete although its footer says complete: no result for {', '.join(report.missing)}")
    claimed = {verdict: count for verdict, count in report.footer["counts"].items() if count}
    if claimed != report.counts:
        raise ReportError(f"the footer counts {_words(claimed)}, the results are {_words(report.counts)}")


def _words(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.items()) or "nothing"


class ReportWriter:
    """Owns the report folder of one run, and writes its report.jsonl and its replay bundles."""

    def __init__(self, folder: Path, *, awake: bool = False) -> None:
        self.folder = folder
        self.counts: Counter[str] = Counter()
        with prepared(folder, "report"):
            (folder / "bundles").mkdir(parents=True, exist_ok=True)
            for old in (folder / "bundles").glob("*.zip"):
                old.unlink()
            self._lines = LineWriter(folder / FILE, NAME, awake=awake)

    def header(self, **fields: Any) -> None:
        """Write the first line; ReportFolderError if that is impossible."""
        with prepared(self.folder, "report"):
            self._lines.header(**fields)

    def attempt(self, **fields: Any) -> None:
        """Write one attempt at a rule."""
        self._lines.write(type="attempt", **fields)

    def result(self, **fields: Any) -> None:
        """Write how a rule ended."""
        self.counts[fields["verdict"]] += 1
        self._lines.write(type="result", **fields)

    def footer(self, exit_status: int, complete: bool, reason: str, **more: Any) -> None:
        """Write the last line: without it the report is truncated."""
        self._lines.footer(exit_status, complete=complete, reason=reason, counts=dict(self.counts), **more)

    def close(self) -> None:
        """End without a footer, for a report that cannot be written: it stays truncated."""
        with contextlib.suppress(OSError):  # closing writes again what could not be written
            self._lines.close()

    def bundle(self, content: bundle.Bundle, failure: str) -> None:
        """Write what `check --replay` needs to judge again, under the name that `bundle.name` gives."""
        bundle.write(self.folder / bundle.name(content.rule, content.seed), content, failure)

    def keep(self, name: str, text: str) -> None:
        """Write a text next to the report. An empty text is not written, but the file of an earlier run is removed."""
        (self.folder / name).unlink(missing_ok=True)
        if text:
            (self.folder / name).write_text(text, encoding="utf-8")
