"""Tests of the frame of every page: text stays text, the policy holds, and the colours can be told apart."""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from markupsafe import Markup

from batchproof.reports.html.page import asset, environment, page, render, visible

if TYPE_CHECKING:
    from pathlib import Path

    from batchproof.suites.selftest.browser import Browse

SCHEMES = ("light", "dark", "print")
# What the eye without one kind of cone sees of linear RGB (Machado, Oliveira and Fernandes 2009, severity 1.0).
BLIND = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
    "none": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
}


def colours(scheme: str) -> dict[str, Any]:
    """Return the colours of a scheme in linear RGB, by the names of their variables."""
    blocks = re.findall(r":root \{(.*?)\}", asset("base.css"), re.DOTALL)
    found = dict(re.findall(r"--(\w+): #(\w+)", blocks[SCHEMES.index(scheme)]))
    whole = {name: "".join(letter * 2 for letter in code) if len(code) == 3 else code for name, code in found.items()}
    return {name: linear(np.array([int(code[at : at + 2], 16) for at in (0, 2, 4)]) / 255) for name, code in whole.items()}


def linear(rgb: Any) -> Any:
    """Undo the gamma of sRGB."""
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def luminance(colour: Any) -> float:
    """Return the relative luminance (WCAG 2.2)."""
    return float(colour @ np.array([0.2126, 0.7152, 0.0722]))


def contrast(one: Any, other: Any) -> float:
    """Return the contrast ratio (WCAG 2.2)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def lab(colour: Any) -> Any:
    """Return CIE L*a*b* (D65)."""
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    scaled = to_xyz @ np.clip(colour, 0, 1) / np.array([0.9505, 1.0, 1.089])
    x, y, z = np.where(scaled > 0.008856, np.cbrt(scaled), 7.787 * scaled + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def test_a_body_that_is_not_markup_is_text() -> None:
    """Whoever forgets to render gets visible markup, and not a hole."""
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page("A page", "<script>alert(1)</script>")  # type: ignore[arg-type]


def test_everything_that_a_template_prints_is_escaped_and_visible() -> None:
    """Elements, attributes and unseen characters."""
    made = environment().from_string('<a title="{{ text }}">{{ text }}</a>').render(text="\"'<b>\u202e\x1b[31m\x00")

    assert made == '<a title="{0}">{0}</a>'.format("&#34;&#39;&lt;b&gt;\\u202e\\x1b[31m\\x00")


def test_what_was_rendered_may_be_put_into_another_template() -> None:
    """It is not escaped again."""
    assert isinstance(render("page.html", title="", body="", style="", script="", policy="", version=""), Markup)


@pytest.mark.parametrize(
    "code", [0x00, 0x1B, 0x7F, 0x9B, 0xAD, 0x200B, 0x200F, 0x2028, 0x202E, 0x2066, 0xFEFF, 0xD800, 0xE0041]
)
def test_unseen_characters_are_written_out(code: int) -> None:
    """A reader sees that they are there; the line feed and the tab stay."""
    assert int(visible(chr(code))[2:], 16) == code
    assert visible("a\n\tb") == "a\n\tb"


@pytest.mark.parametrize("wrong", [{"style": "</style>"}, {"script": "'</script>'"}, {"script": "<!-- <script>"}])
def test_a_style_or_script_cannot_end_its_element(wrong: dict[str, str]) -> None:
    """They are ours, so that is a mistake of ours."""
    with pytest.raises(ValueError, match="the end of its own element"):
        page("A page", Markup(), **wrong)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_has_enough_contrast(scheme: str) -> None:
    """4.5 to 1 for every colour of text on both grounds (WCAG 2.2, AA)."""
    found = colours(scheme)
    grounds, inks = ("paper", "raised"), ("ink", "muted", "pass", "fail", "warn", "accent")

    poor = [(ink, ground) for ground in grounds for ink in inks if contrast(found[ink], found[ground]) < 4.5]

    assert poor == []


@pytest.mark.parametrize("eye", BLIND)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_good_and_bad_are_told_apart(scheme: str, eye: str) -> None:
    """Fifteen just noticeable differences between any two of pass, fail and warn, whatever cones the eye has."""
    seen = {name: lab(np.array(BLIND[eye]) @ colours(scheme)[name]) for name in ("pass", "fail", "warn")}

    assert {pair: float(np.linalg.norm(seen[pair[0]] - seen[pair[1]])) for pair in combinations(seen, 2)
            if np.linalg.norm(seen[pair[0]] - seen[pair[1]]) < 15} == {}


def test_the_policy_lets_our_script_and_style_work_and_nothing_else(tmp_path: Path, browse: Browse) -> None:
    """An event handler, a script, a style and an image that slipped in would do nothing."""
    slipped = Markup('<p id=slipped style="color: red" onclick="document.title = 1">a<img src="https://example.invalid/x.png">'
                     "<script>document.title = 2</script></p>")
    file = tmp_path / "page.html"
    file.write_text(page("Ours", slipped, style="p { font-weight: 700; }", script="document.body.dataset.ours = 'yes'"))

    shown = browse(file)
    shown.click("#slipped")

    assert shown.evaluate("[document.title, document.body.dataset.ours]") == ["Ours", "yes"]
    assert shown.evaluate("[getComputedStyle(slipped).fontWeight, getComputedStyle(slipped).color]")[0] == "700"
    assert shown.evaluate("getComputedStyle(slipped).color") == shown.evaluate("getComputedStyle(document.body).color")
    assert len(browse.complaints) >= 3, browse.complaints  # the policy's own words about what it stopped
    browse.complaints.clear()
    browse.requests[:] = [url for url in browse.requests if "example.invalid" not in url]  # asked for, and blocked


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_a_page_fits_its_window(tmp_path: Path, browse: Browse, scheme: str, width: int) -> None:
    """Nothing has to be scrolled sideways, and the colours follow the system."""
    file = tmp_path / "page.html"
    file.write_text(page("Long", Markup("<main id=content><h1>{}</h1></main>").format("verylong" * 60)))

    shown = browse(file, width=width, scheme=scheme)

    assert shown.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    ground = [int(part) for part in re.findall(r"\d+", shown.evaluate("getComputedStyle(document.body).backgroundColor"))]
    assert (sum(ground) > 382) is (scheme == "light")
