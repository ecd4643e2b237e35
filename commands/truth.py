"""`batchproof truth`: compare reports with what independent evidence says about their stacks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.specifiers import InvalidSpecifier

from batchproof.commands.report import found_in
from batchproof.exit_status import ExitStatus, refuse
from batchproof.fixtures.judging.catalogue import rules
from batchproof.fixtures.judging.declarations import covers
from batchproof.reports import Report, ReportError, read
from batchproof.reports.formats import truth
from batchproof.reports.formats.truth import Truth, TruthError
from batchproof.reports.wording import count, line

TABLES = Path(__file__).parents[1] / "docs" / "stacks" / "truth"


@dataclass(frozen=True)
class Comparison:
    """One report against its table: each entry that concerns it, with the rule's verdict ("" if it has none)."""

    report: Report
    pairs: tuple[tuple[Truth, str], ...]

    def contradictions(self) -> Iterator[str]:
        """Yield a line for each verdict that cannot be right if the evidence is."""
        for entry, verdict in self.pairs:
            if entry.contradicts(verdict):
                known = {True: "it holds", False: "it does not hold", truth.UNCLAIMED: "the stack does not promise it"}
                evidence = "; ".join(entry.evidence)
                says = f"the report says {verdict}, but {known[entry.holds]}: {entry.says} ({evidence})"
                yield f"CONTRADICTION  {line(self.report.target)}  {entry.rule}: {line(says)}"

    @property
    def judged(self) -> int:
        """How many entries the report agrees with or contradicts."""
        return sum(entry.agrees(verdict) or entry.contradicts(verdict) for entry, verdict in self.pairs)

    def summary(self) -> str:
        """Return the counts in one line, and which rules were not judged."""
        agree = sum(entry.agrees(verdict) for entry, verdict in self.pairs)
        against = sum(entry.contradicts(verdict) for entry, verdict in self.pairs)
        left = [f"{entry.rule} {verdict or 'without a result'}" for entry, verdict in self.pairs
                if not (entry.agrees(verdict) or entry.contradicts(verdict))]  # fmt: skip
        words = f"{count(len(self.pairs), 'fact')}, {agree} confirmed, {count(against, 'contradiction')}"
        missing = f", {len(left)} not judged ({', '.join(left)})" if left else ""
        cut = " (truncated)" if self.report.truncated else ""
        return f"{line(self.report.target)}{cut}: {words}{missing}"


def print_truth(folders: Sequence[Path], tables: Path | None) -> ExitStatus:
    """Print each contradiction, and a line for each report.

    FAILED if there is a contradiction, NOTHING if none of a report's facts was judged.
    """
    try:
        reports = [read(folder) for folder in found_in(folders)]
        compared = [compare(report, table_of(report, tables or TABLES)) for report in reports]
    except (ReportError, TruthError) as error:
        return refuse(error)
    found = [text for one in compared for text in one.contradictions()]
    for text in (*found, *(one.summary() for one in compared)):
        print(text)
    if found:
        return ExitStatus.FAILED
    return ExitStatus.FINE if all(one.judged for one in compared) else ExitStatus.NOTHING


def compare(report: Report, table: Sequence[Truth]) -> Comparison:
    """Return the entries for the version of the report's target, each with the verdict of its rule."""
    verdicts = {result["rule"]: str(result["verdict"]) for result in report.results}
    version = str(report.header["target"]["version"])
    return Comparison(report, tuple((one, verdicts.get(one.rule, "")) for one in table if covers(one.versions, version)))


def table_of(report: Report, folder: Path) -> tuple[Truth, ...]:
    """Return the table of the report's target; TruthError if there is none, or if it cannot be used."""
    name = str(report.header["target"]["name"])
    tables = {path.stem: path for path in sorted(folder.glob("*.toml"))}
    if name not in tables:
        there = f"choose from {', '.join(tables)}" if tables else "give the folder with --tables"
        raise TruthError(f"no table of truth for the target '{line(name)}' in {folder}: {there}")
    return checked(tables[name])


def checked(path: Path) -> tuple[Truth, ...]:
    """Read a table, and compare it with the catalogue; TruthError says what is wrong with it."""
    entries = truth.read(path)
    for number, entry in enumerate(entries, 1):
        where = f"{path}: entry {number} ({entry.rule})"
        if entry.rule not in rules():
            raise TruthError(f"{where}: there is no such rule: `batchproof rules` lists them")
        if any((entry.rule, entry.versions) == (other.rule, other.versions) for other in entries[: number - 1]):
            raise TruthError(f"{where}: an earlier entry is about the same rule and versions")
        try:
            covers(entry.versions, "1")
        except InvalidSpecifier:
            raise TruthError(f"{where}: '{entry.versions}' is not a version specifier such as >=2.51,<2.60") from None
    return entries
