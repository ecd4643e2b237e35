"""ab.jsonl: what the writer writes, the reader reads; and what is wrong with any other file is one message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from batchproof.reports.formats.ab import FILE, AbReport, AbWriter, read
from batchproof.reports.formats.jsonl import ReportError

TARGET = {"name": "x", "version": "1", "reached": "x", "contact": "", "sight": "wire", "claims": {}}
SIDE = {"target": "x", "version": "x 1", "python": "3.11", "config": {}, "instances": 0, "revision": "", "commit": ""}
HEAD: dict[str, Any] = {
    "target": TARGET, "base": SIDE, "new": SIDE, "work": "device", "margin": 0.05, "seconds": 60, "load": 0, "clients": 24,
    "requests": 300, "rate": 0, "seed": 1, "questions": ["mean throughput"], "command": "batchproof ab",
}  # fmt: skip
BLOCK = {"requests": 300, "failed": 0, "seconds": 0.4, "stalled": 0.0, "values": {"rows_per_s": 640.0}, "why": "",
         "judged": 300, "wrong": ""}  # fmt: skip
PAIR = {"number": 0, "load": "saturated", "first": "new", "at_s": 0.0, "dropped": "", "base": BLOCK, "new": BLOCK}
ANSWER = {"question": "mean throughput", "answer": "SLOWER", "better": "higher",
          "ratio": {"estimate": 0.95, "low": 0.94, "high": 0.96, "confidence": 0.99}, "pairs": 10, "dropped": 1,
          "base": 640.0, "new": 608.0, "seconds": 8.0, "why": "", "figures": []}  # fmt: skip


def written(folder: Path, *, head: dict[str, Any] | None = None, answers: int = 1, end: bool = True) -> Path:
    """Write a comparison with one pair."""
    writer = AbWriter(folder)
    writer.header(**(head or HEAD))
    writer.pair(PAIR)
    for _ in range(answers):
        writer.answer(ANSWER)
    if end:
        writer.footer(1, complete=True, reason="")
    writer.close()
    return folder


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """Line by line."""
    report = read(written(tmp_path))

    assert [dict(one) for one in report.pairs] == [{"type": "pair", **PAIR}]
    assert [dict(one) for one in report.answers] == [{"type": "answer", **ANSWER}]
    assert (report.truncated, report.missing, report.cut) == (False, (), False)


def test_a_killed_comparison_can_be_read(tmp_path: Path) -> None:
    """It is truncated, and says what is missing."""
    written(tmp_path, answers=0, end=False)
    with (tmp_path / FILE).open("a", encoding="utf-8") as file:
        file.write('{"type": "pai')
    report: AbReport = read(tmp_path)

    assert (report.truncated, report.missing, report.cut, len(report.pairs)) == (True, ("mean throughput",), True, 1)


@pytest.mark.parametrize(
    ("answers", "head", "said"),
    [
        (2, HEAD, "one question has two answers"),
        (0, HEAD, "incomplete although its footer says complete"),
        (1, {**HEAD, "questions": ["p99 latency"]}, "mean throughput was answered, but the header does not ask it"),
        (1, {**HEAD, "margin": "5%"}, "'margin' is not a number"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(tmp_path: Path, answers: int, head: dict[str, Any], said: str) -> None:
    """The message has the file's name."""
    written(tmp_path, answers=answers, head=head)
    with pytest.raises(ReportError, match=said) as refused:
        read(tmp_path)
    assert str(tmp_path / FILE) in str(refused.value)


@pytest.mark.parametrize("text", ["", "{}", "[1]", "\x00", json.dumps({"type": "header", "format": 2})])
def test_another_file_is_refused(tmp_path: Path, text: str) -> None:
    """Foreign, empty or newer."""
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    with pytest.raises(ReportError):
        read(tmp_path)


def test_a_folder_without_one_says_so(tmp_path: Path) -> None:
    """It names the file."""
    with pytest.raises(ReportError, match=r"ab\.jsonl: no such file"):
        read(tmp_path)
