"""Badges: how a stack ended, for a README. As JSON for shields.io's endpoint badge, and as an SVG of our own.

Source of the JSON: https://shields.io/badges/endpoint-badge
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from batchproof.reports.formats.report import Report
from batchproof.reports.headline import ending, extent
from batchproof.reports.html.page import visible
from batchproof.reports.wording import count, line

LONGEST = 30  # characters of what a target cannot have
WIDE = 6.7  # units of a character in the font of a badge, at 11 units
PAD = 8
COLOURS = {  # word of shields.io, our own colour, and the sign that says the same without a colour
    "kept": ("brightgreen", "#00629b", "✓"),
    "in part": ("yellow", "#6b5500", "≈"),
    "broken": ("red", "#a6123a", "✕"),
    "unknown": ("lightgrey", "#565d68", "?"),
}


@dataclass(frozen=True)
class Badge:
    """What a badge says. kind: a key of `COLOURS`."""

    label: str
    message: str
    kind: str


def badge(report: Report) -> Badge:
    """Return the badge of a report. It never says more than the report's own sentence does."""
    label = f"batchproof {line(report.header['batchproof'])}"
    ended = ending(report)
    musts = [one["verdict"] for one in report.results if one["level"] == "MUST"]
    if ended == "not conformant":
        failed = musts.count("FAIL")
        return Badge(label, f"not conformant: {failed} {'rule fails' if failed == 1 else 'rules fail'}", "broken")
    if ended != "conformant":
        return Badge(label, ended, "unknown")
    known = musts.count("KNOWN")
    said, whole = _extent(report)
    said = f"conformant {said}" + (f", {count(known, 'known issue')}" if known else "")
    return Badge(label, said, "kept" if whole and not known else "in part")


def _extent(report: Report) -> tuple[str, bool]:
    """Return to what it conforms, and whether that is a whole profile: the first of the catalogue decides, which is CORE."""
    reached = extent(report)
    said = {profile: f"in part to {profile}" for profile in reached.part}
    for profile, lack in reached.lacking:
        said[profile] = f"to {profile} without {lack}" if len(lack) <= LONGEST else f"to {profile}, with limits"
    more = f" and {count(len(reached.whole) - 1, 'more profile')}" if len(reached.whole) > 1 else ""
    said |= {profile: f"to {profile}{more}" for profile in reached.whole}
    first = next((profile for profile in report.header["must_rules"] if profile in said), "")
    return line(said.get(first, "in part")), first in reached.whole


def to_json(one: Badge) -> dict[str, Any]:
    """Return what shields.io takes from an endpoint."""
    colour = COLOURS[one.kind][0]
    return {"schemaVersion": 1, "label": one.label, "message": one.message, "color": colour}


def to_svg(one: Badge) -> Markup:
    """Return the badge as a picture. The sign says what the colour says, and its name is what it shows."""
    _, colour, sign = COLOURS[one.kind]
    message = f"{sign} {visible(one.message)}"
    left, right = (round(len(text) * WIDE) + 2 * PAD for text in (one.label, message))
    text = Markup('<text x="{}" y="14" textLength="{}" lengthAdjust="spacingAndGlyphs">{}</text>')
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="20" viewBox="0 0 {0} 20" role="img" aria-label="{1}">\n'
        '<title>{1}</title><rect width="{0}" height="20" rx="3" fill="{2}"/>\n'
        '<path d="M3 0H{3}V20H3A3 3 0 0 1 0 17V3A3 3 0 0 1 3 0z" fill="#2b3038"/>\n'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">{4}{5}</g></svg>'
    ).format(
        left + right, f"{visible(one.label)}: {visible(one.message)}", colour, left,
        text.format(PAD, left - 2 * PAD, visible(one.label)), text.format(left + PAD, right - 2 * PAD, message),
    )  # fmt: skip
