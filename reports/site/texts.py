"""Pages about stacks in Markdown, such as those in docs/stacks/, as a part of a page of the site."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urljoin

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

DEEPER = 2  # levels that a heading moves down, below the page's own
_ELSEWHERE = re.compile(r"https?://", re.IGNORECASE)


def to_html(text: str, base: str = "") -> Markup:
    """Return the Markdown as HTML in which everything else is text: no HTML of its own, no images, no `style` attributes.

    base: the address of the page, from which its relative links are resolved; without it they are text.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    tokens = parser.parse(text)
    _name_headings(tokens)
    links: list[Token] = []
    for token in (inner for outer in tokens for inner in (outer, *(outer.children or ()))):
        token.attrs.pop("style", None)  # how a column is aligned, which the page's policy would refuse
        if token.type == "link_open":
            _point(token, base)
            links.append(token)
        elif token.type == "link_close":
            token.tag = links.pop().tag
        elif token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + DEEPER)}"
    return Markup(parser.renderer.render(tokens, parser.options, {}))  # noqa: S704 - the parser has escaped all text


def _name_headings(tokens: Iterable[Token]) -> None:
    """Give each heading the anchor that GitHub gives it, with a prefix that no anchor of ours has."""
    opened = None
    for token in tokens:
        if opened is not None and token.type == "inline":
            plain = re.sub(r"[^\w\- ]", "", token.content.lower()).strip().replace(" ", "-")
            opened.attrs["id"] = f"text-{plain}"
        opened = token if token.type == "heading_open" else None


def _point(token: Token, base: str) -> None:
    href = str(token.attrs.pop("href", ""))
    address = urljoin(base, href) if base else href
    if href.startswith("#"):
        token.attrs["href"] = f"#text-{href[1:]}"
    elif _ELSEWHERE.match(address):
        token.attrs.update(href=address, rel="noreferrer")
    else:
        token.tag = "span"
