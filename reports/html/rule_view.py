"""What the page of a report shows of one rule."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from batchproof.reports import failure
from batchproof.reports.formats.jsonl import Line
from batchproof.reports.html.lane_words import notes
from batchproof.reports.html.lanes import span, svg
from batchproof.reports.html.page import visible
from batchproof.reports.lanes import Lanes, cut
from batchproof.reports.wording import count, number

LONGEST = 2000  # characters of a text from outside
MOST_ATTEMPTS = 50
BASES = {
    "causal": "causal: no noise of the host can change the verdict",
    "bounded": "bounded: a time within a bound, with room for the host's stalls",
    "statistical": "statistical: a gate with stated error rates",
}
_URL = re.compile(r"https?://[^\s<>\"'\\]+")


def of(result: Line, attempts: Sequence[Line], header: Line, explained: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of one entry of the page. attempts: those at this rule. explained: each rule's cause."""
    shown = failure.deciding(result, attempts)
    picture = lanes_of(shown)
    bad = result["verdict"] not in ("PASS", "SKIPPED", "UNSUPPORTED", "NOT_OBSERVABLE", "OBSERVED")
    return {
        "result": result,
        "facts": list(_facts(result, shown, header)),
        "follows": explained.get(result["rule"], ""),
        "hints": [text(hint) for hint in result["hints"]] if bad else [],
        "link": result["link"] if _URL.fullmatch(result["link"]) else "",
        "bundle": visible(result["bundle"]),
        "commands": list(failure.again(result, attempts, header)) if attempts else [],
        "attempts": [_attempt(one) for one in attempts[-MOST_ATTEMPTS:]] if len(attempts) > 1 else [],
        "earlier": max(0, len(attempts) - MOST_ATTEMPTS),
        "measures": [(text(name), number(value)) for name, value in result["measures"].items()],
        "picture": svg(picture, _title(result, picture)) if picture and picture.lanes else Markup(""),
        "notes": notes(picture, span(picture)) if picture else (),
        "drawn": "\n".join(visible(row) for row in shown.get("picture", ())) if not picture else "",
    }


def lanes_of(attempt: Line) -> Lanes | None:
    """Return the picture of an attempt: what it kept for that, or what its evidence shows; None if it has no timeline."""
    if "lanes" in attempt:
        return Lanes.from_json(attempt["lanes"])
    if attempt.get("kind") == "timeline" and attempt.get("evidence"):
        return cut(attempt["evidence"])
    return None


def text(value: object) -> str:
    """Return a text from outside, every character of it visible, and not longer than a reader would read."""
    shown = visible(value).strip()
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]} ... ({len(shown) - LONGEST:,} more characters)"


def _facts(result: Line, shown: Line, header: Line) -> Sequence[tuple[str, str]]:
    facts = {
        "Why": result.get("intent", ""),
        "Source": result.get("source", ""),
        "Evidence": BASES.get(result.get("basis", ""), result.get("basis", "")),
        "Expected": result["expected"],
        "Actual": result["actual"],
        "Reason": result["reason"],
        "Note": shown.get("note", ""),
        "Rig": "\n".join(shown.get("problems", ())),
        "Attempts": f"{result['attempts']}, {result['seconds']:.2f} s" if result["attempts"] else "none",
        "Configuration": failure.settings(shown, header) if shown else "",
    }
    return [(name, text(value)) for name, value in facts.items() if value]


def _attempt(attempt: Line) -> dict[str, Any]:
    words = {name: text(attempt[name]) for name in ("actual", "note")}
    return {**words, **{name: attempt[name] for name in ("attempt", "verdict", "seconds", "seed")}}


def _title(result: Line, picture: Lanes) -> str:
    return f"Timeline of {result['rule']}: {count(len(picture.lanes) + picture.hidden, 'request')}"
