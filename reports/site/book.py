"""What a site knows of each rule, from the reports and from the catalogue that they were judged by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from batchproof.reports.matrix import titles_of
from batchproof.reports.site.entries import Entry

_EMPTY: Mapping[str, Any] = {
    "title": "", "level": "", "profile": "", "intent": "", "source": "", "basis": "", "hints": [], "after": [],
}  # fmt: skip


class Book:
    """The rules of all reports, in the order of the catalogue.

    rules: by id, what a page says of it. explains: the rules whose failure follows from that of a rule.
    """

    def __init__(self, found: Sequence[Entry], catalogue: Mapping[str, Mapping[str, Any]]) -> None:
        self.rules: dict[str, dict[str, Any]] = {}
        self.explains: dict[str, list[str]] = {}
        for rule, title in titles_of([one.report for one in found]).items():
            result = next((entry.results[rule] for entry in found if rule in entry.results), {})
            said = {name: result[name] for name in _EMPTY if result.get(name)}
            self.rules[rule] = {**_EMPTY, **catalogue.get(rule, {}), **said, "rule": rule}
            self.rules[rule]["title"] = self.rules[rule]["title"] or title
            for other in self.rules[rule]["after"]:
                self.explains.setdefault(other, []).append(rule)
