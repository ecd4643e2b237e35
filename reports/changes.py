"""What changed between two reports: new failures and doubts, new known issues, what is fixed, what is no longer judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from batchproof.reports.causes import causes
from batchproof.reports.formats.report import Report
from batchproof.reports.matrix import titles_of, verdict_of

Kind = Literal[
    "new failure",
    "new error",
    "new doubt",
    "new known issue",
    "no longer known",
    "not judged any more",
    "fixed",
    "judged now",
    "other",
]
KINDS: tuple[Kind, ...] = get_args(Kind)  # in the order in which a person wants to read them
FAILED, DOUBTFUL, KEPT = ("FAIL", "ERROR"), ("INCONCLUSIVE",), ("PASS", "OBSERVED")
_NEW: dict[str, Kind] = {"INCONCLUSIVE": "new doubt", "KNOWN": "new known issue"}
_JUDGED = (*FAILED, *DOUBTFUL, *KEPT, "KNOWN")


@dataclass(frozen=True)
class Change:
    """A rule whose verdict is another one now.

    before, now: verdicts; `-` if the rule was not selected, `?` if it has no result. cause: the rule from which it follows
    now, or "".
    """

    rule: str
    title: str
    level: str
    before: str
    now: str
    kind: Kind
    cause: str = ""


@dataclass(frozen=True)
class Changes:
    """All that changed. remaining: how many rules fail as they did in the base; both: how many rules both have judged."""

    changes: tuple[Change, ...]
    remaining: int
    both: int

    def of(self, *kinds: Kind) -> list[Change]:
        """Return those of these kinds, in the order of the catalogue."""
        return [one for one in self.changes if one.kind in kinds]

    @property
    def worse(self) -> bool:
        """Whether a MUST rule fails that did not, or is no longer judged."""
        return any(one.level == "MUST" for one in self.of("new failure", "new error", "not judged any more"))

    @property
    def doubtful(self) -> bool:
        """Whether a MUST rule is inconclusive that was not."""
        return any(one.level == "MUST" for one in self.of("new doubt"))


def changes(base: Report, new: Report) -> Changes:
    """Compare the verdicts of two reports, rule by rule."""
    titles = titles_of([base, new])
    pairs = {rule: (verdict_of(base, rule), verdict_of(new, rule)) for rule in titles}
    levels = {one["rule"]: str(one["level"]) for report in (base, new) for one in report.results}
    explained = causes(new.results)
    found = [
        Change(rule, titles[rule], levels.get(rule, ""), before, now, kind(before, now), explained.get(rule, ""))
        for rule, (before, now) in pairs.items()
        if before != now
    ]
    found.sort(key=lambda one: KINDS.index(one.kind))  # sorting is stable: within a kind, the order of the catalogue
    remaining = sum(before in FAILED and now in FAILED for before, now in pairs.values())
    return Changes(tuple(found), remaining, sum(before in _JUDGED and now in _JUDGED for before, now in pairs.values()))


def kind(before: str, now: str) -> Kind:
    """Return what it means that a verdict was `before` and is `now`."""
    if now in FAILED:
        return _broken(before, now)
    if now in KEPT:
        if before in (*FAILED, *DOUBTFUL, "KNOWN"):
            return "fixed"
        return "other" if before in KEPT else "judged now"
    if now in _NEW:
        return _NEW[now]
    return "not judged any more" if before in _JUDGED else "other"


def _broken(before: str, now: str) -> Kind:
    """A known issue without its entry is not new: the entry was removed, or it is about another version."""
    if (before, now) == ("KNOWN", "FAIL"):
        return "no longer known"
    return "other" if before in FAILED else "new failure" if now == "FAIL" else "new error"


def same_catalogue(base: Report, new: Report) -> bool:
    """Whether both were judged by the same rules."""
    return _catalogue(base.header) == _catalogue(new.header)


def _catalogue(header: Mapping[str, object]) -> tuple[object, ...]:
    return header["batchproof"], header.get("catalogue"), header["must_rules"]
