"""Tests of the charts and the page of two targets side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from batchproof.exit_status import ExitStatus
from batchproof.reports.formats.ab import AbReport, AbWriter, read
from batchproof.reports.plots.ab import charts
from batchproof.reports.plots.ab_page import to_html, verdict
from batchproof.suites.selftest.reports.plots.benches import HOSTILE

if TYPE_CHECKING:
    from pathlib import Path

    from batchproof.suites.selftest.browser import Browse

QUESTIONS = ("typical throughput", "p50 latency")


def side(**more: Any) -> dict[str, Any]:
    """Return one side of the header."""
    config = {"max_batch_size": 8, "max_queue_delay_ns": 0}
    plain = {
        "target": HOSTILE,
        "version": "1",
        "python": "3.11",
        "config": config,
        "instances": 0,
        "revision": "",
        "commit": "",
    }
    return {**plain, **more}


def answer(question: str, word: str, ratio: tuple[float, float, float] | None) -> dict[str, Any]:
    """Return an answer; ratio: new / base with its bounds."""
    estimate, low, high = ratio or (None, None, None)
    found = {"estimate": estimate, "low": low, "high": high, "confidence": 0.995}
    return {
        "question": question,
        "answer": word,
        "better": "higher",
        "ratio": found,
        "pairs": 9,
        "dropped": 1,
        "base": 1.0,
        "new": 1.0,
        "seconds": 10.0,
        "why": HOSTILE if word == "INVALID" else "",
        "figures": [],
    }


def pair(number: int, load: str, *, dropped: bool = False) -> dict[str, Any]:
    """Return a pair of blocks."""
    values = {
        "saturated": {"rows_per_s": 100.0, "typical_rows_per_s": 101.0},
        "paced": {"p50_ns": 5e6, "p99_ns": 9e6, "mean_ns": 5e6},
    }
    block = {
        "requests": 9,
        "failed": 0,
        "seconds": 0.4,
        "stalled": 0.0,
        "values": values[load],
        "why": "",
        "judged": 9,
        "wrong": "",
    }
    return {
        "number": number,
        "load": load,
        "first": "new",
        "at_s": 1.0,
        "dropped": HOSTILE if dropped else "",
        "base": block,
        "new": block,
    }


def written(folder: Path, answers: list[dict[str, Any]], *, complete: bool = True, footer: bool = True) -> AbReport:
    """Write a comparison: four pairs of each load, of which one was dropped."""
    writer = AbWriter(folder)
    about = {"name": "t", "version": "1", "reached": "t", "contact": "", "sight": "in-process", "claims": {}}
    writer.header(
        target=about,
        base=side(),
        new=side(revision="main", commit="abc"),
        work="device",
        margin=0.05,
        seconds=60.0,
        load=0.5,
        clients=24,
        requests=99,
        rate=100.0,
        seed=1,
        questions=list(QUESTIONS),
        command="batchproof ab",
    )
    for load in ("saturated", "paced"):
        for number in range(4):
            writer.pair(pair(number, load, dropped=number == 2))
    for one in answers:
        writer.answer(one)
    if footer:
        writer.footer(ExitStatus.FINE, complete=complete, reason="" if complete else "interrupted")
    writer.close()
    return read(folder)


def test_each_answer_has_its_interval_and_what_is_invalid_has_none(tmp_path: Path) -> None:
    """New against base in percent, and the word alongside the name of the figure."""
    report = written(tmp_path, [answer(QUESTIONS[0], "SLOWER", (0.9, 0.88, 0.92)), answer(QUESTIONS[1], "INVALID", None)])
    answers, pairs = charts(report)
    (panel,) = answers.panels

    assert [(point.x, round(point.y, 6), round(point.low, 6), round(point.high, 6)) for point in panel.series[0].points] == [
        (0, -10, -12, -8)
    ]
    assert [(span.low, span.high) for span in panel.invalid] == [(0.5, 1.5)]
    assert [label.split("\n")[-1] for _, label in panel.x.ticks] == ["SLOWER", "INVALID"]
    assert "SLOWER, typical throughput: -10.0 % against the base" in answers.says
    assert [[(span.low, span.high) for span in one.invalid] for one in pairs.panels] == [[(2.5, 3.5)], [(2.5, 3.5)]]
    assert [len(one.points) for one in pairs.panels[0].series] == [3, 3]
    assert pairs.says == "4 pairs at saturation, 1 INVALID; 4 pairs at the fixed load, 1 INVALID."


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("SLOWER", "FASTER"), "SLOWER: typical throughput"),
        (("SAME", "FASTER"), "FASTER: p50 latency"),
        (("SAME", "UNPROVEN"), "UNPROVEN: p50 latency"),
        (("INVALID", "SAME"), "INVALID: typical throughput"),
        (("SAME", "SAME"), "SAME: typical throughput, p50 latency"),
    ],
)
def test_the_worst_answer_is_the_first_that_is_read(tmp_path: Path, words: tuple[str, str], said: str) -> None:
    """What is not known comes before what is better."""
    answers = [answer(question, word, (1, 0.9, 1.1)) for question, word in zip(QUESTIONS, words, strict=True)]

    assert verdict(written(tmp_path, answers))[0] == said


def test_what_never_ended_is_no_result(tmp_path: Path) -> None:
    """But one that is slower stays so."""
    faster, slower = (answer(QUESTIONS[0], word, (1, 0.9, 1.1)) for word in ("FASTER", "SLOWER"))

    assert verdict(written(tmp_path / "a", [faster], footer=False))[0] == "NO RESULT: the comparison is truncated"
    assert verdict(written(tmp_path / "b", [faster], complete=False))[0] == "NO RESULT: the comparison ended early"
    assert verdict(written(tmp_path / "c", [slower], complete=False))[0] == "SLOWER: typical throughput"
    assert verdict(written(tmp_path / "d", [], complete=False))[0] == "NO RESULT: the comparison ended early"


def test_in_a_browser_the_page_is_quiet_and_its_names_are_text(tmp_path: Path, browse: Browse) -> None:
    """On a telephone, too."""
    pytest.importorskip("matplotlib", reason="the extra `plots` (matplotlib) is not installed")
    report = written(tmp_path, [answer(QUESTIONS[0], "SLOWER", (0.9, 0.88, 0.92)), answer(QUESTIONS[1], "INVALID", None)])
    file = tmp_path / "report.html"
    file.write_text(to_html(report), encoding="utf-8")
    page = browse(file, width=390)

    assert page.locator("svg[role=img]").count() == 3
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert "<script>alert" not in file.read_text(encoding="utf-8")
