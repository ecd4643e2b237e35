"""How `lint` says what it has found: lines for people, JSON, SARIF for code scanning, and GitHub's annotations."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text

from batchproof.commands.lint.files import Source
from batchproof.commands.lint.filters import Finding
from batchproof.fixtures.judging.catalogue import rules
from batchproof.fixtures.judging.checkers.config import HAZARDOUS, INERT, INVALID
from batchproof.reports import sarif, workflow_commands
from batchproof.reports.sarif import SarifResult, SarifRule, document, location, notification
from batchproof.reports.workflow_commands import annotation

FORMAT = 1
KINDS = (INVALID, HAZARDOUS, INERT)
STYLES = {INVALID: "bold red", HAZARDOUS: "yellow", INERT: "cyan"}
SARIF_LEVELS: dict[str, sarif.Level] = {INVALID: "error", HAZARDOUS: "warning", INERT: "note"}
GITHUB_LEVELS: dict[str, workflow_commands.Level] = {INVALID: "error", HAZARDOUS: "warning", INERT: "notice"}


@dataclass(frozen=True)
class Outcome:
    """All that one run has found. known: how many more the baseline has; gone: how many of its entries were not found."""

    files: int
    findings: Sequence[Finding]
    unreadable: Sequence[Source]
    known: int = 0
    gone: int = 0

    def counts(self) -> dict[str, int]:
        """Return how many findings there are of each kind."""
        found = Counter(finding.problem.kind for finding in self.findings)
        return {kind: found[kind] for kind in KINDS}


def visible(text: str, *, path: bool = False) -> str:
    """Return text in which nothing can pass for a line, a colour or, in a path, a place of another file."""
    return "".join(one if one.isprintable() and not (path and one == ":") else _escaped(one) for one in text)


def _escaped(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"  # a byte that is not UTF-8
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def text_lines(finding: Finding) -> list[Text]:
    """Return `path:line:column: id kind: message`, and a line with what to write instead."""
    problem = finding.problem
    head = f"{visible(finding.path, path=True)}:{problem.line}:{problem.column}: {problem.rule} "
    line = Text(head).append(problem.kind, STYLES[problem.kind]).append(f": {visible(problem.message)}")
    return [line, Text(f"    instead: {visible(problem.advice)}", "dim")]


def summary(outcome: Outcome) -> str:
    """Return one line: how many files, and what was found in them."""
    counts = [f"{count} {kind}" for kind, count in outcome.counts().items() if count]
    bad = len({finding.path for finding in outcome.findings})
    parts = [f"{outcome.files} file{'s' * (outcome.files != 1)} read"]
    parts.append(f"{', '.join(counts)} in {bad} of them" if counts else "nothing found")
    if outcome.known:
        parts.append(f"{outcome.known} in the baseline")
    if outcome.gone:
        parts.append(f"{outcome.gone} of the baseline not found any more: write it again")
    if outcome.unreadable:
        parts.append(f"{len(outcome.unreadable)} could not be read")
    return "; ".join(parts)


def json_document(outcome: Outcome) -> str:
    """Return everything as one JSON document."""
    findings = [
        {
            "path": visible(one.path),
            "line": one.problem.line,
            "column": one.problem.column,
            "rule": one.problem.rule,
            "kind": one.problem.kind,
            "message": one.problem.message,
            "instead": visible(one.problem.advice),
        }
        for one in outcome.findings
    ]
    unreadable = [{"path": visible(one.path), "why": one.why} for one in outcome.unreadable]
    total = {"files": outcome.files, **outcome.counts(), "known": outcome.known, "gone": outcome.gone}
    data = {"format": FORMAT, "findings": findings, "unreadable": unreadable, "summary": total}
    return json.dumps(data, indent=1)


def sarif_document(outcome: Outcome, version: str) -> str:
    """Return a SARIF 2.1.0 log."""
    used = sorted({one.problem.rule for one in outcome.findings})
    told = [SarifRule(id_, rules()[id_].title, f"{rules()[id_].intent}. Instead: {rules()[id_].instead}.") for id_ in used]
    results = [
        SarifResult(
            one.problem.rule,
            SARIF_LEVELS[one.problem.kind],
            f"{visible(one.problem.message)} Instead: {visible(one.problem.advice)}.",
            location(one.path, one.problem.line, one.problem.column),
        )
        for one in outcome.findings
    ]
    notes = [notification(visible(f"cannot read it: {one.why}"), "error", location(one.path)) for one in outcome.unreadable]
    invocation = {"executionSuccessful": not notes, "toolExecutionNotifications": notes}
    return document("batchproof lint", version, told, results, invocation)


def github_line(finding: Finding) -> str:
    """Return a workflow command that marks the line in the pull request."""
    problem = finding.problem
    words = f"{visible(problem.message)}\nInstead: {visible(problem.advice)}"
    level, file = GITHUB_LEVELS[problem.kind], visible(finding.path)
    return annotation(level, words, title=problem.rule, file=file, line=problem.line, column=problem.column)


def github_unreadable(source: Source) -> str:
    """Return a workflow command that says that a file could not be read."""
    return annotation("error", visible(f"cannot read it: {source.why}"), file=visible(source.path))
