"""The colours of charts, by role: light ones for paper and files, dark ones for a dark page.

The four series have hues that people with the usual forms of colour blindness tell apart (after Okabe and Ito, Color
Universal Design, 2008, darkened until each has a contrast of at least 4.5 to its background), and each has a mark and a line
of its own. Every light colour stands for one role alone, so that a drawing can be recoloured.
"""

from __future__ import annotations

LIGHT = {
    "ink": "#1b1e23",
    "soft": "#565d68",
    "grid": "#d9dce0",
    "paper": "#fcfcfa",
    "first": "#0069a8",
    "second": "#a85000",
    "third": "#007a58",
    "fourth": "#8f3d7f",
    "predicted": "#5c6370",
    "limit": "#a6123a",
    "invalid": "#82889a",
}
DARK = {
    "ink": "#e7e9ec",
    "soft": "#a3abb7",
    "grid": "#333a44",
    "paper": "#14171c",
    "first": "#6cb8f0",
    "second": "#f0a35c",
    "third": "#4fcfa4",
    "fourth": "#e69ad6",
    "predicted": "#aab1bd",
    "limit": "#ff8095",
    "invalid": "#7d8594",
}
ROLE_OF = {colour: role for role, colour in LIGHT.items()}
MARKS = {"first": "o", "second": "s", "third": "^", "fourth": "D", "predicted": "x"}
SIZES = {"first": 7.0, "second": 5.5, "third": 5.0, "fourth": 4.5, "predicted": 5.0}
DASHES = {"first": "-", "second": "--", "third": "-.", "fourth": ":", "predicted": ":"}


def dark_style() -> str:
    """Return the CSS that recolours a drawing on a dark screen; on paper it stays as it is."""
    rules = [f".f-{role}{{fill:{colour}}}.s-{role}{{stroke:{colour}}}" for role, colour in DARK.items()]
    return "@media screen and (prefers-color-scheme: dark){" + "".join(rules) + "}"
