"""Markdown of others as a part of a page: what stays, what is text, and where links lead."""

from __future__ import annotations

import re

import pytest

from batchproof.reports.site.texts import to_html


def test_headings_move_down_and_have_anchors() -> None:
    """A link within the text leads to its heading, and no anchor of the page can be taken."""
    made = to_html("# A `b` c\n\n## d\n\n[up](#a-b-c)")

    assert '<h3 id="text-a-b-c">A <code>b</code> c</h3>' in made
    assert '<h4 id="text-d">d</h4>' in made
    assert '<a href="#text-a-b-c">up</a>' in made


@pytest.mark.parametrize(
    ("link", "base", "shown"),
    [
        ("programs/x.py", "", "<span>a</span>"),
        ("programs/x.py", "https://h/docs/y.md", '<a href="https://h/docs/programs/x.py" rel="noreferrer">a</a>'),
        ("../z.md#q", "https://h/docs/y.md", '<a href="https://h/z.md#q" rel="noreferrer">a</a>'),
        ("https://other/", "", '<a href="https://other/" rel="noreferrer">a</a>'),
        ("mailto:a@b", "", "<span>a</span>"),
        ("mailto:a@b", "https://h/y.md", "<span>a</span>"),
    ],
)
def test_links_lead_somewhere_or_are_text(link: str, base: str, shown: str) -> None:
    """A relative link needs the address of the page that it stands on."""
    assert shown in to_html(f"[a]({link})", base)


@pytest.mark.parametrize(
    "evil",
    [
        "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[a](javascript:alert(1))", "![a](https://x/y.png)",
        "a <b onclick=alert(1)>b</b>", "[a](data:text/html,x)", '[a](https://x "onclick=")', "<style>*{}</style>",
    ],
)  # fmt: skip
def test_nothing_in_a_text_runs_or_loads(evil: str) -> None:
    """HTML is text, images are not loaded, and a link leads to the web or nowhere."""
    made = to_html(evil, "https://h/y.md")

    tags = re.findall(r"<(\w+)([^>]*)>", made)
    assert {name for name, _ in tags} <= {"p", "a", "span"}
    assert not [given for _, given in tags if re.search(r"\bon\w+=|javascript:|data:", re.sub(r'title="[^"]*"', "", given))]


def test_a_table_has_no_style_of_its_own() -> None:
    """The page's policy refuses `style` attributes."""
    made = to_html("| a | b |\n|--:|:--|\n| 1 | 2 |")

    assert "<table>" in made
    assert "style" not in made
