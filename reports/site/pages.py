"""The files of a site: every page, the badges, and an index for programs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from batchproof.reports.headline import ending, headline
from batchproof.reports.html.page import asset, page, render
from batchproof.reports.site import views
from batchproof.reports.site.badge import badge, to_json, to_svg
from batchproof.reports.site.book import Book
from batchproof.reports.site.entries import Entry
from batchproof.reports.stacks import LEGEND, dated

FORMAT = 1
INDEX = "site.json"


def files(
    found: Sequence[Entry],
    *,
    title: str = "What these batchers keep",
    rules: Mapping[str, Mapping[str, Any]] | None = None,
    text_of: Callable[[Entry], Markup] = lambda _: Markup(""),
) -> Iterator[tuple[str, str]]:
    """Yield the path of each file of the site, and what is in it. The index for programs is the last.

    rules: what the catalogue says of each rule. text_of: a text about a stack, for its page.
    """
    book = Book(found, rules or {})
    written = [INDEX]
    for path, text in _pages(found, book, title, text_of):
        written.append(path)
        yield path, text
    stacks = [_facts(one) for one in found]
    index = {"format": FORMAT, "title": title, "stacks": stacks, "rules": list(book.rules), "files": sorted(written)}
    yield INDEX, json.dumps(index, indent=1) + "\n"


def _pages(
    found: Sequence[Entry], book: Book, title: str, text_of: Callable[[Entry], Markup]
) -> Iterator[tuple[str, str]]:
    areas, rows = views.areas(found), views.rules(found, book)
    legend = LEGEND.replace("`", "")
    values: dict[str, Any] = {"entries": found, "areas": areas, "rules": rows, "legend": legend, "title": title}
    dates = dated([one.report for one in found])
    yield "index.html", _page(title, "index.html", root="", dates=dates, scripts=("search.js",), **values)
    for entry in found:
        folder = f"stacks/{entry.slug}"
        mark = badge(entry.report)
        yield f"{folder}/badge.json", json.dumps(to_json(mark)) + "\n"
        yield f"{folder}/badge.svg", to_svg(mark) + "\n"
        stack = views.stack_page(entry, found)
        more: dict[str, Any] = {"badge": mark, "badge_svg": to_svg(mark), "text": text_of(entry), "title": title}
        yield f"{folder}/index.html", _page(entry.name, "stack.html", root="../../", **stack, **more)
    near_by = ["", *book.rules, ""]
    for at, rule in enumerate(book.rules):
        near = {"previous": near_by[at], "next": near_by[at + 2]}
        said = views.rule_page(rule, found, book)
        said["rule_title"] = said.pop("title")
        yield f"rules/{rule}.html", _page(rule, "rule.html", root="../", title=title, **said, **near)


def _page(name: str, template: str, *, root: str, scripts: Sequence[str] = (), **values: Any) -> str:
    """Return a page. root: the way from its folder to the site's."""
    body = render(template, __package__, root=root, signs=views.SIGNS, **values)
    style = f"{asset('lanes.css')}\n{asset('site.css', __package__)}"
    script = "\n".join([asset("lanes.js"), *(asset(one, __package__) for one in (*scripts, "keys.js"))])
    return page(name, body, style=style, script=script)


def _facts(entry: Entry) -> dict[str, Any]:
    header = entry.report.header
    return {
        "name": entry.target["name"],
        "version": entry.target["version"],
        "folder": f"stacks/{entry.slug}",
        "judged": header["started"],
        "batchproof": entry.by,
        "catalogue": header.get("catalogue", ""),
        "ending": ending(entry.report),
        "headline": headline(entry.report),
        "counts": entry.report.counts,
    }
