"""A case as a page: one timeline that a hunt found, or the two sides of a comparison over one another."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from batchproof.reports.html import iterations
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
    marks = "The lanes with a coloured ground and a mark at their left are those that this is about." if about else ""
    return _page(title, facts, shown, again, "legend.html", marks)


def of_iterations(
    title: str, facts: Named, sides: Timelines, *, mark: int | None, about: Collection[str] = (), again: str = ""
) -> str:
    """Return the page of what engines did with one script. sides: the JSON data of each `Generations`, under its title.

    mark: the iteration in which they differ first; about: the requests that differ there.
    """
    shown = []
    for name, data in sides:
        says = f"{name}: {count(len(data['requests']), 'request')}, {count(len(data['iterations']), 'iteration')}"
        drawn = iterations.svg(data, says, mark=mark, about=about)
        shown.append({"title": name, "picture": drawn, "notes": [says]})
    marks = "" if mark is None else "The coloured column is the first iteration that differs, and the coloured lanes differ."
    return _page(title, facts, shown, again, "iterations_legend.html", marks)


def _page(title: str, facts: Named, shown: Sequence[Mapping[str, Any]], again: str, legend: str, marks: str) -> str:
    lines = [(name, text(value)) for name, value in facts if value]
    body = render("case.html", title=title, facts=lines, pictures=shown, again=again, legend=legend, marks=marks)
    style = "\n".join(asset(name) for name in ("lanes.css", "iterations.css", "report.css"))
    return page(title, body, style=style, script=asset("lanes.js"))
