"""A case as a page: one timeline that a hunt found, or the two timelines of a comparison over one another."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from batchproof.reports.html.lane_words import notes
from batchproof.reports.html.lanes import span, svg
from batchproof.reports.html.page import asset, page, render
from batchproof.reports.html.rule_view import text
from batchproof.reports.lanes import cut
from batchproof.reports.wording import count

Named = Sequence[tuple[str, str]]
Timelines = Sequence[tuple[str, Mapping[str, Any]]]


def to_html(title: str, facts: Named, timelines: Timelines, *, about: Collection[str] = (), again: str = "") -> str:
    """Return the page. All timelines have one scale, so that they can be compared by eye.

    facts: names and values, in their order. timelines: JSON data of each, under its title. about: the requests at which they
    differ, or which the judgement is about; they are marked. again: commands that show it again.
    """
    pictures = [(name, cut(timeline, tuple(about))) for name, timeline in timelines]
    span_ns = max((span(picture) for _, picture in pictures), default=0)
    shown = []
    for name, picture in pictures:
        says = f"{name}: {count(len(picture.lanes) + picture.hidden, 'request')}"
        drawn = svg(picture, says, span_ns=span_ns, marked=about)
        shown.append({"title": name, "picture": drawn, "notes": notes(picture, span_ns)})
    lines = [(name, text(value)) for name, value in facts if value]
    body = render("case.html", title=title, facts=lines, pictures=shown, again=again, marked=bool(about))
    style = "\n".join(asset(name) for name in ("lanes.css", "report.css"))
    return page(title, body, style=style, script=asset("lanes.js"))
