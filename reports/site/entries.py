"""The reports of a site, each with a name and a folder of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from packaging.version import InvalidVersion, Version

from batchproof.reports.formats.jsonl import Line
from batchproof.reports.formats.report import Report
from batchproof.reports.matrix import names_of
from batchproof.reports.stacks import check_catalogue, stack

_UNFIT = re.compile(r"[^a-z0-9.]+")
_LONGEST = 60


@dataclass(frozen=True)
class Entry:
    """One report. name: of the target, with its version, and different from all others. slug: the name of its folder."""

    name: str
    slug: str
    report: Report

    @property
    def target(self) -> Line:
        """Who was judged."""
        found: Line = self.report.header["target"]
        return found

    @property
    def day(self) -> str:
        """When it was judged: `2026-11-23`."""
        return str(self.report.header["started"])[:10]

    @property
    def by(self) -> str:
        """By which version of Batchproof it was judged."""
        return str(self.report.header["batchproof"])

    @property
    def stamp(self) -> str:
        """Name, version, day and suite: what every cell about it says."""
        return f"{self.name}, judged {self.day} by Batchproof {self.by}"

    @cached_property
    def results(self) -> dict[str, Line]:
        """How each rule ended that has a result."""
        return {one["rule"]: one for one in self.report.results}

    @cached_property
    def attempts(self) -> dict[str, list[Line]]:
        """The attempts at each rule."""
        found: dict[str, list[Line]] = {}
        for one in self.report.attempts:
            found.setdefault(one["rule"], []).append(one)
        return found

    def verdict(self, rule: str) -> str:
        """Return a rule's verdict: `-` if it was not selected, `?` if it has no result."""
        if rule in self.results:
            return str(self.results[rule]["verdict"])
        return "?" if rule in self.report.header["rules"] else "-"


def entries(reports: Sequence[Report]) -> tuple[Entry, ...]:
    """Return the reports by name, and those of one target by version; MixedError if they do not compare."""
    check_catalogue(reports)
    ordered = sorted(reports, key=_place)
    names = [stack(report, name) for report, name in zip(ordered, names_of(ordered), strict=True)]
    return tuple(map(Entry, names, slugs(names), ordered))


def slugs(names: Iterable[str]) -> list[str]:
    """Return a folder's name for each of these names: lower-case letters, digits, dots and dashes, and no two alike."""
    found: list[str] = []
    for name in names:
        plain = _UNFIT.sub("-", name.lower())[:_LONGEST].strip("-.") or "target"
        number = 1
        while (one := plain if number == 1 else f"{plain}-{number}") in found:
            number += 1
        found.append(one)
    return found


def _place(report: Report) -> tuple[str, bool, Version, str, str]:
    target = report.header["target"]
    version = str(target["version"])
    try:
        parsed, strange = Version(version), False
    except InvalidVersion:
        parsed, strange = Version("0"), True
    return str(target["name"]).lower(), strange, parsed, version, str(report.header["started"])
