"""Reading `report.jsonl`: the one place that knows its lines, and that refuses a report which does not add up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from batchproof.reports.lines import Fields, Line, ReportError, checked, objects, opened, target_name

__all__ = ["FILE", "FORMAT", "VERDICTS", "Report", "ReportError", "area", "read"]

FORMAT = 1
FILE = "report.jsonl"
VERDICTS = ("PASS", "OBSERVED", "SKIPPED", "NOT_OBSERVABLE", "KNOWN", "INCONCLUSIVE", "FAIL", "ERROR")  # best first

# What the documents rely on. The schema says more; this much is asked of every report, so that none breaks them.
_FIELDS: Fields = {
    "header": {
        **dict.fromkeys(("batchproof", "started", "profile", "patience", "command"), str),
        **dict.fromkeys(("target", "host", "must_rules"), dict),
        "rules": list,
        "seed": int,
    },
    "attempt": {
        **dict.fromkeys(("rule", "verdict", "expected", "actual", "note", "kind"), str),
        **dict.fromkeys(("attempt", "seed"), int),
        **dict.fromkeys(("config", "evidence"), (dict, type(None))),
        **dict.fromkeys(("picture", "problems"), list),
    },
    "result": {
        **dict.fromkeys(("rule", "level", "title", "verdict", "expected", "actual", "reason", "link", "bundle"), str),
        "attempts": int,
        "seconds": (int, float),
        "hints": list,
        "measures": dict,
    },
    "footer": {"ended": str, "exit_status": int, "complete": bool, "reason": str, "counts": dict},
}


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
        """It has no footer: the run never got to its end."""
        return self.footer is None

    @property
    def target(self) -> str:
        """Name and version of what was judged."""
        return target_name(self.header)

    @property
    def missing(self) -> tuple[str, ...]:
        """The selected rules that have no result."""
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


def read(path: str | Path) -> Report:
    """Read a report file, or the `report.jsonl` of a folder; ReportError says what is wrong with it."""
    with opened(path, FILE) as file:
        try:
            raw = file.read_bytes()
        except FileNotFoundError:
            raise ReportError("no such file") from None
        report = _parse(raw)
        _agree(report)
    return report


def _parse(raw: bytes) -> Report:
    """Sort the lines by type. Only the last may be cut off, and nothing follows the footer."""
    header: Line | None = None
    footer: Line | None = None
    cut = False
    found: dict[str, list[Line]] = {"attempt": [], "result": []}
    for number, line in objects(raw):
        if header is None:
            header = _header(line)
        elif footer is not None:
            raise ReportError(f"line {number}: something follows the footer")
        elif line is None:
            cut = True
        elif line.get("type") == "header":
            raise ReportError(f"line {number}: a second header; two runs wrote into one file")
        else:
            kind = _checked(line, number)
            if kind == "footer":
                footer = line
            else:
                found[kind].append(line)
    if header is None:
        raise ReportError("the file is empty")
    return Report(header, tuple(found["attempt"]), tuple(found["result"]), footer, cut)


def _header(line: Line | None) -> Line:
    if line is None or line.get("type") != "header":
        raise ReportError("the first line is no header, so this is no report")
    _checked(line, 1)
    for field in ("name", "version", "reached", "contact", "sight", "claims"):
        if not isinstance(line["target"].get(field), dict if field == "claims" else str):
            raise ReportError(f"line 1: the header's target has no valid '{field}'")
    if not all(isinstance(rule, str) for rule in line["rules"]):
        raise ReportError("line 1: the header's rules are not all names")
    return line


def _checked(line: Line, number: int) -> str:
    kind = checked(line, number, _FIELDS, FORMAT)
    if line.get("verdict", "PASS") not in VERDICTS:
        raise ReportError(f"line {number}: unknown verdict {line['verdict']!r}")
    return kind


def _agree(report: Report) -> None:
    """Compare what the header promised, what the results hold and what the footer says."""
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
