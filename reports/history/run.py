"""What a history keeps: runs, each with its figures, the commit that was measured, and the host that measured it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import cached_property
from typing import Any, Literal

from batchproof.reports.figures import Figure
from batchproof.reports.wording import line

Kind = Literal["bench", "check", "imported"]
KINDS: tuple[Kind, ...] = ("bench", "check", "imported")
LONGEST = 200  # characters of a name: of a target, a version, a branch
LARGEST = 2**63 - 1  # what a column of integers holds
_SHA = re.compile(r"[0-9a-f]{7,64}")
_CREDENTIALS = re.compile(r"(?<=://)[^/\s@]*@")
# A kernel or a Python may change, and that is worth seeing.
SAME_MACHINE = ("machine", "cpu", "cpus", "cores", "cpu_quota", "memory")


class HistoryError(Exception):
    """The history cannot be read or written; the message says which, why, and what to do. Never with a password."""


class HistoryUnavailable(HistoryError):
    """It is not the request that is wrong: the history is locked, full, damaged, read-only, or has gone away."""


@dataclass(frozen=True)
class Commit:
    """What was measured. sha: in hexadecimal. at: when it was committed, in seconds since 1970. dirty: with changes."""

    sha: str
    at: int
    dirty: bool = False
    branch: str = ""

    def __post_init__(self) -> None:
        """Refuse what git would not have written."""
        if not _SHA.fullmatch(self.sha):
            raise HistoryError(f"{line(self.sha)!r} is not the hash of a commit")
        _in_range("the time of the commit", self.at)
        object.__setattr__(self, "branch", name(self.branch))


@dataclass(frozen=True)
class Host:
    """The machine that measured. facts: what is known of it; the fingerprint says whether two runs share a machine."""

    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """Twelve hexadecimal digits; `unknown` if nothing is known."""
        if given := self.facts.get("fingerprint"):
            return name(given)
        same = {key: self.facts[key] for key in SAME_MACHINE if self.facts.get(key) not in (None, "")}
        return _digest(same)[:12] if same else "unknown"


def hosted(facts: Mapping[str, Any]) -> tuple[Host, dict[str, str]]:
    """Return the host of a report's facts, and the other facts, which may differ from run to run: kernel, packages, ..."""
    same = {key: value for key, value in facts.items() if key in SAME_MACHINE or key == "fingerprint"}
    return Host(same), {key: str(value) for key, value in facts.items() if key not in same}


@dataclass(frozen=True)
class Run:
    """One run. HistoryError if a field makes no sense.

    when: seconds since 1970. target, version: what was measured. form: what else two runs must share to be compared, such as
    `bench quick`. origin: the tool and its version. about: what may help a reader, such as the command; never compared.
    """

    when: int
    kind: Kind
    origin: str
    target: str
    version: str
    form: str
    host: Host
    figures: tuple[Figure, ...]
    commit: Commit | None = None
    about: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what cannot be kept, and keep names short and free of credentials."""
        for key in ("origin", "target", "version", "form"):
            object.__setattr__(self, key, name(getattr(self, key)))
        object.__setattr__(self, "about", {str(key): line(without_credentials(text)) for key, text in self.about.items()})
        if self.kind not in KINDS:
            raise HistoryError(f"{self.kind!r} is not a kind of run: {', '.join(KINDS)}")
        if not self.figures:
            raise HistoryError("a run without figures")
        ids = [figure.id for figure in self.figures]
        if twice := {one for one in ids if ids.count(one) > 1} if len(set(ids)) < len(ids) else set():
            raise HistoryError(f"{min(twice)} occurs twice in one run")
        for figure in self.figures:
            _in_range(f"n of {figure.id}", figure.n)
        _in_range("the time of the run", self.when)

    @property
    def at(self) -> int:
        """Its place in a series: when the commit was made, or else when it was measured."""
        return self.commit.at if self.commit else self.when

    @cached_property
    def key(self) -> str:
        """The same for the same measurement, so that adding it twice adds it once. The commit is not part of it."""
        figures = sorted(
            (one.id, one.value, one.unit, one.better, one.low, one.high, one.n, one.valid) for one in self.figures
        )
        what = (self.when, self.kind, self.origin, self.target, self.version, self.form, self.host.fingerprint)
        return _digest([*what, figures])


def name(text: object) -> str:
    """Return a name as it is kept: one line, no credentials, at most 200 characters."""
    return line(without_credentials(text))[:LONGEST]


def without_credentials(text: object) -> str:
    """Return a text whose addresses have lost their `user:password@`."""
    return _CREDENTIALS.sub("", str(text))


def moment(seconds: int) -> str:
    """Return a time in UTC, ISO 8601."""
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds_of(text: str) -> int:
    """Return the seconds since 1970 of a time in ISO 8601; without a zone, it counts as UTC. ValueError if it is none."""
    found = datetime.fromisoformat(re.sub(r"[zZ]$", "+00:00", text.strip()))
    return round((found if found.tzinfo else found.replace(tzinfo=timezone.utc)).timestamp())


def _in_range(what: str, number: int) -> None:
    if not 0 <= number <= LARGEST or (what.startswith("the time") and number > 253_402_300_799):  # the year 9999
        raise HistoryError(f"{what} is {number}")


def _digest(data: Any) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True, default=str).encode()).hexdigest()
