"""Tests of a bench's report.html, in a real browser where there is one."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest

from batchproof.reports.formats.bench import BenchReport, BenchWriter, read
from batchproof.reports.plots import page
from batchproof.suites.selftest.reports.plots.benches import HOSTILE, keep, line, overload, row, static, sweep, written

if TYPE_CHECKING:
    from pathlib import Path

    from batchproof.suites.selftest.browser import Browse

LARGEST = 2_000_000


def bench(folder: Path) -> BenchReport:
    """Write a bench with charts, tables and names from outside."""
    kept = keep(folder, "run", refused=10)
    opened = [
        row((4, 0), rate=float(rate), fraction=rate / 100, samples=kept, valid=rate != 60, why=HOSTILE)
        for rate in (30, 60, 90)
    ]
    table = {
        "title": HOSTILE,
        "heads": ["name", "requests/s"],
        "rows": [[HOSTILE, 12.3456789], [None, 12345]],
        "note": HOSTILE,
    }
    one = {**static((1, 20), (8, 30), name=HOSTILE), "tables": [table], "headline": HOSTILE}
    return written(
        folder,
        one,
        sweep([row((4, 0), samples=kept), row((8, 0), valid=False)], opened),
        line("gpu", "SKIPPED"),
        overload((HOSTILE, 0.5, True), (HOSTILE, 3, False)),
        target=HOSTILE,
    )


def test_the_page_is_small_and_needs_no_network(tmp_path: Path) -> None:
    """One file, with the tables alongside the charts."""
    pytest.importorskip("matplotlib", reason="the extra `plots` (matplotlib) is not installed")
    bench(tmp_path)
    text = page.write(tmp_path).read_text(encoding="utf-8")

    assert len(text) < LARGEST
    assert set(re.findall(r"(?:src|href)=\"(?!#|data:)[^\"]*", text)) == set()
    assert set(re.findall(r"https?://[^\s\"<]+", text)) <= {"http://www.w3.org/2000/svg"}
    assert "<script>alert" not in text
    assert text.count("<svg ") >= 6
    assert "12.35" in text
    assert "12,345" in text


def test_in_a_browser_it_is_quiet_and_fits(tmp_path: Path, browse: Browse) -> None:
    """No complaint of the console, nothing asked of a network, no page wider than its window, in light and dark."""
    pytest.importorskip("matplotlib", reason="the extra `plots` (matplotlib) is not installed")
    bench(tmp_path)
    file = page.write(tmp_path)
    for width, scheme in ((1280, "light"), (1280, "dark"), (390, "light")):
        shown = browse(file, width=width, scheme=scheme)

        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        assert shown.locator("svg[role=img]").count() >= 6
        ink = shown.locator("svg text.f-ink").first.evaluate("one => getComputedStyle(one).fill")
        assert ink == {"light": "rgb(27, 30, 35)", "dark": "rgb(231, 233, 236)"}[scheme]
    assert browse.complaints == []
    assert browse.network == []


def test_without_matplotlib_the_page_has_its_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And says what to install."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    text = page.to_html(bench(tmp_path), tmp_path)

    assert "<svg " not in text
    assert "pip install &#39;batchproof[plots]&#39;" in text
    assert "12.35" in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["PASS", "measured"], "MEASURED: a passes its threshold"),
        (["measured", "SKIPPED"], "MEASURED: nothing had a threshold to pass"),
        (["PASS", "PASS"], "MEASURED: a and b pass their thresholds"),
        (["FAIL", "PASS"], "FAILED: a"),
        (["ERROR", "FAIL"], "FAILED: a and b"),
        (["PARTLY", "PASS"], "NOT DECIDED: a (PARTLY)"),
        (["INVALID", "INCONCLUSIVE"], "NOT DECIDED: a (INVALID) and b (INCONCLUSIVE)"),
        (["SKIPPED", "SKIPPED"], "NOTHING MEASURED: every measurement was skipped"),
    ],
)
def test_the_sentence_never_claims_more_than_was_measured(words: list[str], said: str, tmp_path: Path) -> None:
    """What failed comes first, then what is not known."""
    report = written(tmp_path, *(line(name, word) for name, word in zip("ab", words, strict=True)))

    assert page.sentence(report)[0] == said


def test_a_bench_that_never_ended_says_so(tmp_path: Path) -> None:
    """Its file has no footer."""
    writer = BenchWriter(tmp_path)
    about = {"name": "x", "version": "1", "reached": "x", "contact": "", "sight": "in-process", "claims": {}}
    writer.header(
        target=about, measurements=["a", "b"], works=["w"], quick=True, seed=1, slo_ns=0, price=None, command="bench"
    )
    writer.measurement("a", {key: value for key, value in line("a").items() if key != "measurement"})
    writer.close()

    assert page.sentence(read(tmp_path))[0] == "NO RESULT: the bench is truncated; 1 of 2 measurements have a line"
