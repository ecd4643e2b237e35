"""SARIF 2.1.0: the format in which code scanning takes the results of a tool.

Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html; the section of each object is noted next to it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal
from urllib.parse import quote

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
Level = Literal["none", "note", "warning", "error"]
Fact = dict[str, Any]


@dataclass(frozen=True)
class SarifRule:
    """A reportingDescriptor (3.49): what a rule says, and what to do about it."""

    id: str
    title: str
    help: str

    def fact(self) -> Fact:
        """Return JSON data."""
        return {"id": self.id, "shortDescription": {"text": self.title}, "help": {"text": self.help}}


@dataclass(frozen=True)
class SarifResult:
    """A result (3.27). more: further properties, such as `kind` or `suppressions`."""

    rule: str
    level: Level
    message: str
    location: Fact
    more: Fact = field(default_factory=dict)


def location(path: str, line: int = 1, column: int = 1, base: str = "") -> Fact:
    """Return a location (3.28). base: the name of the folder to which the path is relative, or ""."""
    place: Fact = {"uri": quote(path.encode("utf-8", "surrogateescape"))}
    if base:
        place["uriBaseId"] = base
    return {"physicalLocation": {"artifactLocation": place, "region": {"startLine": line, "startColumn": column}}}


def notification(message: str, level: Level = "error", *locations: Fact) -> Fact:
    """Return a notification (3.58): what the tool says about its own run."""
    return {"level": level, "message": {"text": message}, **({"locations": list(locations)} if locations else {})}


def document(
    name: str,
    version: str,
    rules: Sequence[SarifRule],
    results: Sequence[SarifResult],
    invocation: Fact,
    bases: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return a log of one run of one tool, as JSON.

    rules: those of the results, each once. invocation: 3.20. bases: what each name of a base folder stands for, in words.
    """
    place = {rule.id: number for number, rule in enumerate(rules)}
    found = [
        {
            "ruleId": one.rule,
            "ruleIndex": place[one.rule],
            "level": one.level,
            "message": {"text": one.message},
            "locations": [one.location],
            **one.more,
        }
        for one in results
    ]
    run: Fact = {
        "tool": {"driver": {"name": name, "version": version, "rules": [rule.fact() for rule in rules]}},
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "results": found,
    }
    if bases:
        run["originalUriBaseIds"] = {base: {"description": {"text": words}} for base, words in bases.items()}
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1)
