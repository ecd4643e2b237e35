"""Tests of the drawings: no network, no style that a policy forbids, text that stays text, colours for light and dark."""

from __future__ import annotations

import math
import re
import sys
import xml.etree.ElementTree as ET
from itertools import combinations
from typing import TYPE_CHECKING

import pytest

from batchproof.reports.plots import files
from batchproof.reports.plots.catalogue import charts
from batchproof.reports.plots.chart import Point, Series, Span
from batchproof.reports.plots.colours import DARK, DASHES, LIGHT, MARKS, ROLE_OF
from batchproof.reports.plots.drawing import Undrawable, _line_of, to_png, to_svg
from batchproof.suites.selftest.reports.plots.benches import HOSTILE, keep, overload, row, static, sweep, written

if TYPE_CHECKING:
    from pathlib import Path

    from batchproof.reports.plots.chart import Chart

SVG = "{http://www.w3.org/2000/svg}"


def parsed(text: str) -> ET.Element:
    """Return the drawing, which is our own."""
    return ET.fromstring(text)  # noqa: S314


@pytest.fixture
def drawable() -> None:
    """Skip where nothing can be drawn."""
    pytest.importorskip("matplotlib", reason="the extra `plots` (matplotlib) is not installed")


@pytest.fixture
def every(tmp_path: Path) -> tuple[Chart, ...]:
    """Charts of all kinds, valid and INVALID, with names from outside."""
    kept = keep(tmp_path, "run", refused=10)
    opened = [
        row((4, 0), rate=float(rate), fraction=rate / 100, samples=kept, valid=rate != 60, why=HOSTILE)
        for rate in (30, 60, 90)
    ]
    closed = [row((4, 0), samples=kept), row((8, 0), valid=False), row((8, 5), samples=kept)]
    bench = written(
        tmp_path,
        static((1, 20), (8, 30), name=HOSTILE),
        sweep(closed, opened, name=HOSTILE),
        overload((HOSTILE, 0.5, True), (HOSTILE, 3, False)),
    )
    return charts(bench, tmp_path).charts


@pytest.mark.usefixtures("drawable")
def test_a_drawing_needs_nothing_from_elsewhere(every: tuple[Chart, ...]) -> None:
    """It has no address but that of its own language, no script, no style attribute, and no id of another drawing."""
    seen: set[str] = set()
    for text in (to_svg(chart, panel, alone=alone) for chart in every for panel, alone in ((None, True), (0, False))):
        root = parsed(text)
        ids = [one.get("id") for one in root.iter() if one.get("id")]
        links = re.findall(r'href="([^"]*)"|url\(([^)]*)\)', text)

        assert set(re.findall(r"https?://[^\s\"<]+", text)) <= {"http://www.w3.org/2000/svg"}
        assert not [one.tag for one in root.iter() if one.get("style") or one.tag in (f"{SVG}script", f"{SVG}image")]
        assert {link.lstrip("#") for pair in links for link in pair if link} <= set(ids)
        assert len(ids) == len(set(ids))
        if not root.findall(f"{SVG}style"):
            assert seen.isdisjoint(ids)
            seen.update(filter(None, ids))


@pytest.mark.usefixtures("drawable")
def test_a_drawing_can_be_read_aloud(every: tuple[Chart, ...]) -> None:
    """It has a role, a title, and a description that says what it shows; its text is text."""
    for chart in every:
        root = parsed(to_svg(chart))
        title, told = (root.findtext(f"{SVG}{tag}") or "" for tag in ("title", "desc"))

        assert root.get("role") == "img"
        assert [root.find(f"{SVG}*[@id='{one}']") is not None for one in root.get("aria-labelledby", "").split()] == [
            True,
            True,
        ]
        assert title
        assert len(told) > 20
        assert root.findall(f".//{SVG}text")


@pytest.mark.usefixtures("drawable")
def test_names_from_outside_are_text(every: tuple[Chart, ...]) -> None:
    """Neither markup nor formulas, and without what cannot be seen."""
    for chart in every:
        shown = " ".join(one.text or "" for one in parsed(to_svg(chart)).iter())

        assert "\x1b" not in shown
        assert "\u202e" not in shown
    shown = " ".join(one.text or "" for one in parsed(to_svg(every[0])).iter())
    assert "<script>alert(1)</script>" in shown
    assert "$x^2$" in shown


@pytest.mark.usefixtures("drawable")
def test_every_colour_can_be_changed_for_a_dark_screen(every: tuple[Chart, ...]) -> None:
    """Each paint is a role's, and has the class of that role alongside it."""
    for chart in every:
        root = parsed(to_svg(chart))
        for element in root.iter():
            for paint, letter in (("fill", "f"), ("stroke", "s")):
                value = element.get(paint, "none")
                if value.startswith("#"):
                    assert f"{letter}-{ROLE_OF[value]}" in element.get("class", "").split(), ET.tostring(element)
        assert "prefers-color-scheme: dark" in (root.findtext(f"{SVG}style") or "")


@pytest.mark.usefixtures("drawable")
def test_what_is_invalid_is_hatched(every: tuple[Chart, ...]) -> None:
    """In the pattern of INVALID, and with the word."""
    for name in ("load-", "overload", "sweep-"):
        text = to_svg(next(chart for chart in every if chart.name.startswith(name)))

        assert "<pattern" in text
        assert "INVALID" in text


def test_no_line_leads_through_what_is_invalid() -> None:
    """Nothing is known there."""
    points = tuple(Point(x, 1.0, 0.5, 2.0) for x in (1.0, 2.0, 4.0))

    x, y = _line_of(Series("s", "first", points), [Span(2.5, 3.5, "why")])
    assert x == [1, 2, 4, 4]
    assert [math.isnan(one) for one in y] == [False, False, True, False]


@pytest.mark.usefixtures("drawable")
def test_the_same_chart_gives_the_same_files(every: tuple[Chart, ...], tmp_path: Path) -> None:
    """A commit of pictures shows what has changed. Their names stay in the folder whatever the charts are called."""
    folder = tmp_path / "plots"
    written_first = {path.name: path.read_bytes() for path in files.write(every, folder)}
    again = {path.name: path.read_bytes() for path in files.write(every, folder)}

    assert written_first == again
    assert len(again) == 2 * len(every)
    assert all(path.parent == folder and re.fullmatch(r"[A-Za-z0-9_.-]+\.(svg|png)", path.name) for path in folder.iterdir())
    assert all(data.startswith(b"\x89PNG") for name, data in again.items() if name.endswith(".png"))


def test_without_matplotlib_it_says_what_to_install(every: tuple[Chart, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Once, and in words."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for draw in (to_svg, to_png):
        with pytest.raises(Undrawable, match=r"matplotlib.*batchproof\[plots\]"):
            draw(every[0])


def test_every_role_has_a_colour_in_light_and_dark_and_a_mark() -> None:
    """No two roles share a colour, or a drawing could not be recoloured; marks and dashes tell series apart too."""
    series = ("first", "second", "third", "fourth")

    assert set(LIGHT) == set(DARK)
    assert len(ROLE_OF) == len(LIGHT)
    assert all(MARKS[one] != MARKS[other] and DASHES[one] != DASHES[other] for one, other in combinations(series, 2))


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_series_and_text_have_contrast(scheme: dict[str, str]) -> None:
    """At least 4.5 to the background (WCAG 2.2, level AA)."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    for role in set(scheme) - {"paper", "grid", "invalid"}:
        low, high = sorted((luminance(scheme[role]), luminance(scheme["paper"])))
        assert (high + 0.05) / (low + 0.05) >= 4.5, role
