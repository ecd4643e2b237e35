"""The files of a bench under test: however it ends, they say so, and contradictions are refused."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from batchproof.bench.kinds import KINDS
from batchproof.bench.plan import Measurement
from batchproof.bench.record import Record
from batchproof.bench.result import Result
from batchproof.bench.run import Options, run, status_of
from batchproof.bench.tables.table import Table
from batchproof.load.workload import Skipped
from batchproof.reports import BenchReport, ReportError, read_bench
from batchproof.reports.bench_markdown import to_markdown
from batchproof.targets.protocol import TargetError, TargetGone

if TYPE_CHECKING:
    from collections.abc import Callable

TARGET = {"name": "x", "version": "1", "reached": "x", "contact": "", "sight": "wire", "claims": {}}
ABOUT: dict[str, Any] = {"target": TARGET, "measurements": ["a"], "works": ["w"], "quick": True, "seed": 1, "slo_ns": 0,
                         "price": None, "command": "c"}


TABLE = Table("T", ("rows", "x"), [[1, None], [8, 2.5]])


@dataclass(frozen=True)
class Figures:
    """The figures of a measurement."""

    per_s: float = 9000.0

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        return {"per_s": self.per_s}


def measured(**more: Any) -> Result:
    """Return the result of a measurement."""
    return replace(Result(valid=True, headline="fine", found=Figures()), **more)


def one_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *bodies: Callable[..., Any]
) -> tuple[int, BenchReport]:
    """Run a bench with these measurements."""
    plan = tuple(
        Measurement(f"m{number}", "why?", 1, 1, body, lambda _found: (TABLE,)) for number, body in enumerate(bodies)
    )
    monkeypatch.setitem(KINDS, "dynamic", replace(KINDS["dynamic"], measurements=plan))
    status = run(Options("virtual", quick=True, report=tmp_path), Console(file=io.StringIO()))
    return status, read_bench(tmp_path)


def raising(error: BaseException) -> Callable[..., Any]:
    """Return a measurement that raises this."""

    def body(*_: Any) -> Any:
        raise error

    return body


@pytest.mark.parametrize(
    ("body", "status", "word"),
    [
        (lambda *_: measured(), 0, "measured"),
        (lambda *_: measured(verdict="PASS"), 0, "PASS"),
        (lambda *_: measured(verdict="FAIL"), 1, "FAIL"),
        (lambda *_: measured(verdict="INCONCLUSIVE"), 75, "INCONCLUSIVE"),
        (lambda *_: measured(valid=False, reasons=("noise",)), 75, "INVALID"),
        (lambda *_: measured(valid=False, partly=True, reasons=("noise",)), 75, "PARTLY"),
        (raising(Skipped("no such thing")), 5, "SKIPPED"),
        (raising(TargetError("gone wrong")), 1, "ERROR"),
        (raising(ZeroDivisionError("a bug")), 1, "ERROR"),
    ],
)
def test_each_end_has_its_word_and_exit_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: Callable[..., Any], status: int, word: str
) -> None:
    """Each way to end has its word, its exit status, and a line that the reader accepts."""
    got, found = one_run(tmp_path, monkeypatch, body)

    assert (got, found.measurements[0]["word"]) == (status, word)
    assert found.footer is not None
    assert found.footer["complete"]
    assert found.footer["exit_status"] == status


@pytest.mark.parametrize(
    ("error", "status", "reason"),
    [(KeyboardInterrupt(), 130, "interrupted"), (TargetGone("killed by SIGKILL"), 1, "the target died: killed by SIGKILL")],
)
def test_a_bench_that_ended_early_keeps_what_it_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, status: int, reason: str
) -> None:
    """Both files say that the rest is missing."""
    got, found = one_run(tmp_path, monkeypatch, lambda *_: measured(), raising(error), lambda *_: measured())

    assert got == status
    assert found.footer is not None
    assert (found.footer["complete"], found.footer["reason"], found.missing) == (False, reason, ("m1", "m2"))
    text = (tmp_path / "bench.md").read_text()
    assert f"**Ended early.** {reason}" in text
    assert "Not measured: m1, m2." in text


def test_invalid_figures_are_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The headline of an INVALID measurement is its reason."""
    _, found = one_run(tmp_path, monkeypatch, lambda *_: measured(valid=False, reasons=("noise", "more"), headline="9000/s"))

    assert found.measurements[0]["headline"] == "no result: noise, and 1 more"


def test_a_partly_valid_result_is_shown_with_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PARTLY: the headline stays, with the first reason, and the document does not call it "no result"."""
    noisy = measured(valid=False, partly=True, reasons=("noise", "more"), headline="9000/s")
    _, found = one_run(tmp_path, monkeypatch, lambda *_: noisy)
    text = (tmp_path / "bench.md").read_text()

    assert found.measurements[0]["headline"] == "9000/s; but noise, and 1 more"
    assert "**PARTLY**" in text
    assert "**Not all of it is valid**" in text
    assert "no result" not in text


def test_a_fail_outweighs_an_inconclusive() -> None:
    """The worst status wins, and something measured alongside something skipped is fine."""
    assert status_of(["PASS", "INCONCLUSIVE", "FAIL"]) == 1
    assert status_of(["measured", "SKIPPED"]) == 0
    assert status_of(["SKIPPED", "SKIPPED"]) == status_of([]) == 5


def test_a_truncated_bench_says_so(tmp_path: Path) -> None:
    """A bench without a footer says so, and one that was cut in the middle of a line says that."""
    record = Record(tmp_path)
    record.writer.header(**{**ABOUT, "measurements": ["a", "b"]})
    record.measurement("a", "q", "PASS", 1.0, measured(), (TABLE,))
    text = (tmp_path / "bench.jsonl").read_bytes()

    found = read_bench(tmp_path)
    assert found.truncated
    assert "**Truncated.** The bench ends before its footer" in to_markdown(found)
    (tmp_path / "bench.jsonl").write_bytes(text + b'{"type": "meas')
    found = read_bench(tmp_path)
    assert (found.cut, found.missing) == (True, ("b",))
    assert "in the middle of a line" in to_markdown(found)
    record.writer.footer(0, complete=False, reason="")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("", "the file is empty"),
        ("[]", "line 1 is not a JSON object"),
        ("{footer}", "the first line is not a header, so this is not bench.jsonl"),
        ("{header}\n{header}", "line 2: a second header"),
        ("{header}\n{stray}", "stray was measured, but the header did not select it"),
        ("{header}\n{a}\n{a}", "two lines"),
        ("{header}\n{footer}", "the footer's list of measurements is not that of the lines"),
        ("{header}\n{footer}\n{a}", "something follows the footer"),
        ("{header}\n{wordless}", "line 2, measurement: 'word' is 'fine', and may be 'measured'"),
        ("{header}\n{crooked}", "a table of a has a row with more or fewer cells than column heads"),
    ],
)
def test_contradictions_are_refused(tmp_path: Path, lines: str, message: str) -> None:
    """A file that contradicts itself is refused, and the message says where."""
    at = "2026-11-21T13:00:00Z"
    head = {"type": "header", "format": 1, "batchproof": "1", "started": at, "host": {}, **ABOUT}
    line = {"type": "measurement", "measurement": "a", "question": "q", "word": "PASS", "seconds": 1, **measured().facts(),
            "tables": [TABLE.facts()]}
    foot = {"type": "footer", "ended": at, "exit_status": 0, "complete": True, "reason": "", "names": ["a"]}
    crooked = {**line, "tables": [{"title": "T", "heads": ["a"], "rows": [[1, 2]]}]}
    known = {"header": head, "a": line, "footer": foot, "stray": {**line, "measurement": "stray"},
             "wordless": {**line, "word": "fine"}, "crooked": crooked}
    for word, value in known.items():
        lines = lines.replace("{" + word + "}", json.dumps(value))
    (tmp_path / "bench.jsonl").write_text(lines)

    with pytest.raises(ReportError, match=message):
        read_bench(tmp_path)


def test_the_document_shows_the_recorded_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables are as they were recorded, and nothing that a target says becomes markup."""
    _, found = one_run(tmp_path, monkeypatch, lambda *_: measured(headline="<b>*hi*</b>"))
    text = to_markdown(found)

    assert "| rows |   x |\n| ---: | --: |\n|    1 |   - |\n|    8 | 2.5 |" in text
    assert r"&lt;b&gt;\*hi\*&lt;/b&gt;" in text
    assert text == (tmp_path / "bench.md").read_text()
