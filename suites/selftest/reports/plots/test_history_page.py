"""Tests of the page of a history, in a real browser where there is one."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from batchproof.reports.history.queries import Head
from batchproof.reports.history.run import Commit
from batchproof.reports.plots.history_page import Shown, to_html
from batchproof.reports.plots.tracks import Track, track
from batchproof.suites.selftest.reports.plots.benches import HOSTILE
from batchproof.suites.selftest.reports.plots.histories import DAY, changed, points, series

if TYPE_CHECKING:
    from pathlib import Path

    from batchproof.suites.selftest.browser import Browse


def heads(count: int) -> list[Head]:
    """Return so many runs."""
    return [
        Head(run, DAY * run, "bench", "o", HOSTILE, "1", "f", "h", Commit(f"{run:040x}", DAY * run, branch=HOSTILE), 2)
        for run in range(1, count + 1)
    ]


def tracks() -> list[Track]:
    """Return a series with a change and an INVALID run, one in ns, and one of a target with a strange name."""
    slow = points([100.0] * 8 + [None] + [90.0] * 8)
    one = series()
    return [
        track(one, slow, [changed(one, slow, 9, 100, 90)]),
        track(series("open.p99_ns[load=0.6]", unit="ns", better="lower"), points([5e6] * 17)),
        track(series(target=HOSTILE), points([1.0, 2.0])),
    ]


def shown() -> Shown:
    """Return what the page is about."""
    return Shown(HOSTILE, heads(17), 100_000, [HOSTILE], lambda _: f"this commit: {HOSTILE}")


def test_the_page_says_what_changed() -> None:
    """In a sentence, in a table with links, and in words for those who cannot see the charts."""
    text = to_html(tracks(), shown())
    words = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", text))

    assert "CHANGED: 1 of 3 series; the latest change made 1 SLOWER and 0 FASTER" in words
    assert "17 of 100000 runs" in words
    assert "▼ SLOWER -10.0%" in words
    assert "100 rows/s" in words
    assert 'href="#s-0"' in text
    assert 'href="#run-9"' in text
    assert "Newest: run 17, 0000000000: 5 ms (4.95 to 5.05)" in text
    assert "SLOWER -10.0% from run 10 on" in text


def test_nothing_is_said_about_nothing() -> None:
    """An empty history, one in which nothing changed, and one with too few runs to tell."""
    assert "NO FIGURES" in to_html([], Shown("h", [], 0))
    assert "NO CHANGES: no change point in the 1 of 2 series that have 8 valid runs" in to_html(tracks()[1:], shown())
    assert "TOO FEW RUNS: no series has 8 valid runs" in to_html(tracks()[2:], shown())


def test_names_from_outside_are_text() -> None:
    """In the page and in its data."""
    text = to_html(tracks(), shown())
    data = json.loads(re.findall(r'<script type="application/json" id="tracks">(.*?)</script>', text, re.DOTALL)[0])

    assert "<script>alert" not in text
    assert len(data) == 3
    assert data[0]["told"][8] == "run 9, 0000000000: INVALID"


def test_what_has_no_valid_run_comes_last() -> None:
    """A spoilt night does not push the figures that were measured out of sight, in each section."""
    spoilt = [track(series(f"a.lost[{n}]"), points([None, None])) for n in range(2)]
    partly = track(series("b.partly"), points([None, 1.0]))
    text = to_html([*spoilt, partly], shown())

    assert re.findall(r'id="(s-\d)"', text) == ["s-2", "s-0", "s-1"]
    assert re.findall(r'data-track="(\d)"', text) == ["2", "0", "1"]


def test_thousands_of_points_stay_small() -> None:
    """Fifty figures of a hundred thousand runs, thinned out, are less than 2 MB."""
    many = track(series(), points([100.0 + run % 7 for run in range(20_000)]))
    text = to_html([many] * 50, shown())

    assert len(text) < 2_500_000
    assert len(many.places) <= 400


def test_in_a_browser_a_click_and_a_key_go_to_the_run(tmp_path: Path, browse: Browse) -> None:
    """The console is silent; a chart says what stands under the pointer or the cursor."""
    file = tmp_path / "history.html"
    file.write_text(to_html(tracks(), shown()), encoding="utf-8")
    page = browse(file)
    chart, told = page.locator(".card svg").first, page.locator(".card .told").first

    chart.focus()
    page.keyboard.press("End")
    assert told.inner_text().startswith("run 17, ")
    for _ in range(8):
        page.keyboard.press("ArrowLeft")
    assert told.inner_text() == "run 9, 0000000000: INVALID"
    page.keyboard.press("Enter")
    assert page.url.endswith("#run-9")
    chart.click(position={"x": chart.bounding_box()["width"] * 0.16, "y": 60})
    assert page.url.endswith("#run-1")


def test_in_a_browser_figures_are_found_by_their_names(tmp_path: Path, browse: Browse) -> None:
    """What was searched for stands in the address. The page fits on a telephone."""
    file = tmp_path / "history.html"
    file.write_text(to_html(tracks(), shown()), encoding="utf-8")
    page = browse(file, width=390, scheme="dark")

    page.locator("#find").fill("open p99")
    assert page.locator(".card:visible").count() == 1
    assert page.url.endswith("?figures=open+p99")
    page.reload()
    assert page.locator(".card:visible").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
