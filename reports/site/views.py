"""What the pages of a site show, as values for their templates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from batchproof.reports import failure
from batchproof.reports.causes import causes, followers
from batchproof.reports.changes import changes
from batchproof.reports.formats.jsonl import Line
from batchproof.reports.headline import ending, headline, scope
from batchproof.reports.html.lane_words import notes
from batchproof.reports.html.lanes import span, svg
from batchproof.reports.html.report import ENDINGS, FAMILIES
from batchproof.reports.html.rule_view import BASES, lanes_of, text
from batchproof.reports.site.book import Book
from batchproof.reports.site.entries import Entry
from batchproof.reports.stacks import FAILED, UNCLEAR, Grid, grids
from batchproof.reports.wording import count

BUDGET = 1_000_000  # bytes of pictures on one page
NOT_THERE = {"-": ("none", " "), "?": ("doubt", "·")}  # not selected; without a result
SIGNS = {**FAMILIES, **NOT_THERE}
ABSENT = {"-": "not selected", "?": "no result"}
_BELOW = re.compile(r"docs/stacks/[\w.-]+\.md#([\w-]+)$")  # a known issue that the stack's text explains
_WORST = ("FAIL", "ERROR", "INCONCLUSIVE", "KNOWN")


def areas(found: Sequence[Entry]) -> list[dict[str, Any]]:
    """Return the matrices of stacks and areas, a family of areas each: heads, and a row of cells for each stack."""
    families = dict.fromkeys(rule.partition("-")[0] for one in found for rule in one.report.header["rules"])
    tables = grids([one.report for one in found])
    return [{"family": name, **_area_table(found, grid)} for name, grid in zip(families, tables, strict=True)]


def _area_table(found: Sequence[Entry], grid: Grid) -> dict[str, Any]:
    rows = []
    for entry, (_, *texts) in zip(found, grid.rows, strict=True):
        cells = [
            {"text": said, "family": _area_family(said), "says": f"{entry.stamp}: {head} {said or 'not selected'}"}
            for head, said in zip(grid.heads[1:], texts, strict=True)
        ]
        rows.append({"entry": entry, "cells": cells})
    return {"heads": grid.heads[1:], "rows": rows}


def _area_family(said: str) -> str:
    return "bad" if "✗" in said else "doubt" if "?" in said else "none" if said in ("", "-") else "good"


def rules(found: Sequence[Entry], book: Book) -> list[dict[str, Any]]:
    """Return a row for each rule of any report: what it says, a cell for each stack, and words to search for."""
    rows = []
    for rule, about in book.rules.items():
        verdicts = [entry.verdict(rule) for entry in found]
        cells = [cell(entry, rule, verdict) for entry, verdict in zip(found, verdicts, strict=True)]
        judged = set(verdicts) - {"-", "?", "SKIPPED", "UNSUPPORTED", "NOT_OBSERVABLE"}
        broken = not judged.isdisjoint((*FAILED, *UNCLEAR))
        rows.append({**about, "cells": cells, "broken": broken, "differ": len(judged) > 1})
    return rows


def cell(entry: Entry, rule: str, verdict: str) -> dict[str, str]:
    """Return one cell: the verdict's sign and family, and who, when and by what in words."""
    family, sign = SIGNS[verdict]
    said = ABSENT.get(verdict, verdict.replace("_", " "))
    return {"verdict": said, "family": family, "sign": sign, "slug": entry.slug, "says": f"{entry.stamp}: {rule} {said}"}


def stack_page(entry: Entry, found: Sequence[Entry]) -> dict[str, Any]:
    """Return what the page of a stack shows."""
    report, target = entry.report, entry.target
    explained, following = causes(report.results), followers(report.results)
    family, sign = ENDINGS.get(ending(report), FAMILIES["INCONCLUSIVE"])
    left = Budget()
    bad = [one for one in report.results if one["verdict"] in _WORST]
    bad.sort(key=lambda one: (_WORST.index(one["verdict"]), one["rule"] in explained))
    return {
        "entry": entry,
        "sentence": headline(report),
        "family": family,
        "sign": sign,
        "facts": _facts(entry, scope(report)),
        "claims": [(name, _value(value)) for name, value in sorted(target["claims"].items())],
        "findings": [finding(entry, one, left, explained, len(following.get(one["rule"], ()))) for one in bad],
        "told": [finding(entry, one, left, {}, 0) for one in report.results if one.get("told") == "fail"],
        "areas": [
            {"name": name, "rules": [{**one, **_look(one["verdict"])} for one in results]}
            for name, results in report.areas().items()
        ],
        "others": [_other(entry, one) for one in found if one.target["name"] == target["name"] and one is not entry],
    }


def finding(entry: Entry, result: Line, left: Budget, explained: Mapping[str, str], follow: int) -> dict[str, Any]:
    """Return what a page shows of a rule that a stack does not keep, with a picture if there is one and room for it."""
    shown = failure.deciding(result, entry.attempts.get(result["rule"], ()))
    link = str(result["link"])
    facts = {"Expected": result["expected"], "Actual": result["actual"], "Reason": result["reason"]}
    return {
        **_look(result["verdict"]),
        "rule": result["rule"],
        "title": text(result["title"]),
        "level": result["level"],
        "facts": [(name, text(value)) for name, value in facts.items() if value],
        "cause": explained.get(result["rule"], ""),
        "follow": follow,
        "address": link if link.startswith(("http://", "https://")) else "",
        "anchor": f"#text-{below[1]}" if (below := _BELOW.search(link)) else "",
        "link": text(link),
        **left.picture(shown, f"{entry.name}: timeline of {result['rule']}"),
    }


def rule_page(rule: str, found: Sequence[Entry], book: Book) -> dict[str, Any]:
    """Return what the page of a rule shows."""
    left, rows, pictures = Budget(), [], []
    for entry in found:
        verdict, result = entry.verdict(rule), entry.results.get(rule)
        said = text((result["reason"] or result["actual"]) if result else "")
        rows.append({"entry": entry, **cell(entry, rule, verdict), "said": said})
        if result:
            pictures.append((verdict, entry, failure.deciding(result, entry.attempts.get(rule, ()))))
    about = book.rules[rule]
    return {
        **about,
        "basis": BASES.get(about["basis"], about["basis"]),
        "rows": rows,
        "kept": sum(row["verdict"] == "PASS" for row in rows),
        "pictures": list(_pictures(rule, pictures, left)),
        "after": [(one, book.rules[one]["title"] if one in book.rules else "") for one in about["after"]],
        "before": [(one, book.rules[one]["title"]) for one in book.explains.get(rule, ())],
    }


def _pictures(rule: str, shown: Sequence[tuple[str, Entry, Line]], left: Budget) -> Iterator[dict[str, Any]]:
    """Yield a picture for each stack that breaks the rule, and one of a stack that keeps it."""
    kept = False
    for verdict, entry, attempt in sorted(shown, key=lambda one: one[0] not in _WORST):
        if verdict not in _WORST and (kept or verdict != "PASS"):
            continue
        drawn = left.picture(attempt, f"{entry.name}: timeline of {rule}")
        if drawn["picture"]:
            kept = kept or verdict == "PASS"
            yield {"entry": entry, **_look(verdict), **drawn}


class Budget:
    """How many bytes of pictures a page still takes, so that it stays small enough to be opened on a telephone."""

    def __init__(self) -> None:
        self.left = BUDGET

    def picture(self, attempt: Line, title: str) -> dict[str, Any]:
        """Return the picture of an attempt and the notes below it; both empty if it has none, or if there is no room."""
        lanes = lanes_of(attempt) if attempt else None
        if lanes is None or not lanes.lanes:
            return {"picture": Markup(""), "notes": ()}
        drawn = svg(lanes, title)
        if len(drawn) > self.left:
            return {"picture": Markup(""), "notes": ("Its picture is left out to keep this page small.",)}
        self.left -= len(drawn)
        return {"picture": drawn, "notes": notes(lanes, span(lanes))}


def _look(verdict: str) -> dict[str, str]:
    family, sign = SIGNS[verdict]
    return {"verdict": verdict.replace("_", " "), "family": family, "sign": sign}


def _other(entry: Entry, other: Entry) -> dict[str, Any]:
    """Return what changed from another version to this one."""
    found = changes(other.report, entry.report)
    return {"entry": other, "sentence": headline(other.report), "changes": found.changes}


def _facts(entry: Entry, chosen: str) -> list[tuple[str, str]]:
    target, header = entry.target, entry.report.header
    facts = {
        "Judged": f"{entry.day} by Batchproof {entry.by}",
        "Rules": f"{count(len(header['rules']), 'rule')}, {chosen}",
        "Reached": f"{target['reached']} {target['contact']}".strip(),
        "Sight": target["sight"],
        "Host": ", ".join(f"{name} {value}" for name, value in header["host"].items()),
        "Command": header["command"],
    }
    return [(name, text(value)) for name, value in facts.items() if value]


def _value(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else text(value)
