"""Tests of the page of a case: one timeline, or two over one another."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from batchproof.reports.html.case import to_html
from batchproof.suites.selftest.report_lines import HOSTILE, MS, REARMED, data

if TYPE_CHECKING:
    from pathlib import Path

    from batchproof.suites.selftest.browser import Browse

SLOWER = replace(REARMED, requests=tuple(replace(one, answered_ns=800 * MS) for one in REARMED.requests))


def test_two_timelines_have_one_scale_and_one_mark(tmp_path: Path, browse: Browse) -> None:
    """What happens at the same time is at the same place in both, and the request at which they differ is marked in both."""
    file = tmp_path / "diff.html"
    pair = [("reference", data(REARMED)), ("triton", data(SLOWER))]
    file.write_text(to_html("DIFFERENT: r1", [("reference", "answered")], pair, about=("r1",), again="batchproof diff"))

    page = browse(file)

    first, second = (svg.evaluate("(one) => one.querySelector('.frame').getAttribute('x')") for svg in
                     page.locator("figure svg.lanes").all())  # fmt: skip
    assert first == second
    assert page.locator(".lane.marked .name").all_text_contents() == ["r1", "r1"]
    assert page.locator("h2").all_text_contents() == ["reference", "triton", "Again", "How to read a timeline"]
    page.focus("figure >> nth=1 >> .lane >> nth=0")
    page.keyboard.press("End")
    assert page.inner_text("figure >> nth=1 >> output").startswith("Batch 1 on instance 0")


def test_hostile_words_are_text() -> None:
    """In the title, the facts, the names of targets and the commands."""
    made = to_html(HOSTILE, [(HOSTILE, HOSTILE)], [(HOSTILE, data(REARMED))], about=(HOSTILE,), again=HOSTILE)

    assert made.count("<script>") == 1
    assert made.count("\\u202e") == 7
    assert "\u202e" not in made
