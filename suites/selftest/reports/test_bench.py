"""The files of a bench under test: however it ends, they say so, and what contradicts itself is refused."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import numpy as np
import pytest
from rich.console import Console

from batchproof.bench import run as command
from batchproof.bench.measurement import Result
from batchproof.bench.plan import Measurement
from batchproof.bench.record import Record
from batchproof.bench.run import Options, run, status_of
from batchproof.bench.tables.table import Table
from batchproof.load.samples import Samples
from batchproof.load.workload import MS, Skipped
from batchproof.reports import bench as report
from batchproof.reports.reading import ReportError
from batchproof.targets.protocol import TargetError, TargetGone

if TYPE_CHECKING:
    from collections.abc import Callable

SCHEMA = json.loads((Path(str(files("batchproof"))) / "reports/schema/bench.schema.json").read_text(encoding="utf-8"))


TABLE = Table("T", ("rows", "x"), [[1, None], [8, 2.5]])


@dataclass(frozen=True)
class Figures:
    """What a measurement found."""

    per_s: float = 9000.0

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        return {"per_s": self.per_s}


def measured(**more: Any) -> Result:
    """What a measurement gives."""
    return replace(Result(valid=True, headline="fine", found=Figures()), **more)


def one_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *bodies: Callable[..., Any]
) -> tuple[int, report.BenchReport]:
    """Run a bench whose measurements are these."""
    plan = tuple(
        Measurement(f"m{number}", "why?", 1, 1, body, lambda _found: (TABLE,)) for number, body in enumerate(bodies)
    )
    monkeypatch.setattr(command, "MEASUREMENTS", plan)
    status = run(Options("virtual", quick=True, report=tmp_path), Console(file=io.StringIO()))
    return status, report.read(tmp_path)


def raising(error: BaseException) -> Callable[..., Any]:
    """A measurement that ends so."""

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
def test_exit_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: Callable[..., Any], status: int, word: str
) -> None:
    """Each end has its word, its exit status, and a line that the schema knows."""
    got, found = one_run(tmp_path, monkeypatch, body)

    assert (got, found.measurements[0]["word"]) == (status, word)
    assert found.footer is not None
    assert found.footer["complete"]
    assert found.footer["exit_status"] == status
    for line in (tmp_path / "bench.jsonl").read_text().splitlines():
        jsonschema.validate(json.loads(line), SCHEMA)


@pytest.mark.parametrize(
    ("error", "status", "reason"),
    [(KeyboardInterrupt(), 130, "interrupted"), (TargetGone("killed by SIGKILL"), 1, "the target died: killed by SIGKILL")],
)
def test_ended_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, status: int, reason: str
) -> None:
    """What was measured before stays, and both files say that the rest is missing."""
    got, found = one_run(tmp_path, monkeypatch, lambda *_: measured(), raising(error), lambda *_: measured())

    assert got == status
    assert found.footer is not None
    assert (found.footer["complete"], found.footer["reason"], found.missing) == (False, reason, ("m1", "m2"))
    text = (tmp_path / "bench.md").read_text()
    assert f"**Ended early.** {reason}" in text
    assert "Not measured: m1, m2." in text


def test_invalid_figures_are_not_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The headline of an INVALID measurement is its reason."""
    _, found = one_run(tmp_path, monkeypatch, lambda *_: measured(valid=False, reasons=("noise", "more"), headline="9000/s"))

    assert found.measurements[0]["headline"] == "no result: noise, and 1 more"


def test_what_is_valid_is_told_beside_what_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PARTLY: the headline stays, with the first reason, and the document does not call the whole without result."""
    noisy = measured(valid=False, partly=True, reasons=("noise", "more"), headline="9000/s")
    _, found = one_run(tmp_path, monkeypatch, lambda *_: noisy)
    text = (tmp_path / "bench.md").read_text()

    assert found.measurements[0]["headline"] == "9000/s; but noise, and 1 more"
    assert "**PARTLY**" in text
    assert "**Not all of it is valid**" in text
    assert "no result" not in text


def test_a_fail_outweighs_what_is_inconclusive() -> None:
    """Worst wins, and something measured beside something skipped is fine."""
    assert status_of(["PASS", "INCONCLUSIVE", "FAIL"]) == 1
    assert status_of(["measured", "SKIPPED"]) == 0
    assert status_of(["SKIPPED", "SKIPPED"]) == status_of([]) == 5


def test_truncated(tmp_path: Path) -> None:
    """A bench without a footer says so, and one that was cut in the middle of a line says that."""
    record = Record(tmp_path)
    about = {"target": {"name": "x", "version": "1", "reached": "x"}, "works": ["w"], "command": "c"}
    record.header(**about, measurements=["a", "b"], quick=True, seed=1)
    record.measurement("a", "q", "PASS", 1.0, measured(), (TABLE,))
    text = (tmp_path / "bench.jsonl").read_bytes()

    found = report.read(tmp_path)
    assert found.truncated
    assert "**Truncated.** The bench ends before its footer" in report.to_markdown(found)
    (tmp_path / "bench.jsonl").write_bytes(text + b'{"type": "meas')
    found = report.read(tmp_path)
    assert (found.cut, found.missing) == (True, ("b",))
    assert "in the middle of a line" in report.to_markdown(found)
    record.footer(0, complete=False, reason="")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("", "no header"),
        ("[]", "no JSON object"),
        ("{footer}", "the first line, and no other, is the header"),
        ("{header}\n{header}", "the first line, and no other, is the header"),
        ("{header}\n{stray}", "stray was measured, and the header did not select it"),
        ("{header}\n{a}\n{a}", "two lines"),
        ("{header}\n{footer}", "the footer names other measurements"),
        ("{header}\n{footer}\n{a}", "something follows the footer"),
        ("{header}\n{crooked}", "a table of a is none"),
    ],
)
def test_contradictions_are_refused(tmp_path: Path, lines: str, message: str) -> None:
    """A file that does not add up is no bench, and the message says where."""
    head = {"type": "header", "format": 1, "batchproof": "1", "started": "s", "command": "c", "measurements": ["a"],
            "works": [], "host": {}, "target": {"name": "x", "version": "1", "reached": "x"}, "seed": 1, "quick": True}
    line = {"type": "measurement", "measurement": "a", "question": "q", "word": "PASS", "seconds": 1, **measured().facts(),
            "tables": [TABLE.facts()]}
    foot = {"type": "footer", "ended": "e", "exit_status": 0, "complete": True, "reason": "", "names": ["a"]}
    crooked = {**line, "tables": [{"title": "T", "heads": ["a"], "rows": [[1, 2]]}]}
    known = {"header": head, "a": line, "footer": foot, "stray": {**line, "measurement": "stray"}, "crooked": crooked}
    for word, value in known.items():
        lines = lines.replace("{" + word + "}", json.dumps(value))
    (tmp_path / "bench.jsonl").write_text(lines)

    with pytest.raises(ReportError, match=message):
        report.read(tmp_path)


def test_markdown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The document is the tables as they were recorded; what a target says becomes no markup."""
    _, found = one_run(tmp_path, monkeypatch, lambda *_: measured(headline="<b>*hi*</b>"))
    text = report.to_markdown(found)

    assert "| rows |   x |\n| ---: | --: |\n|    1 |   - |\n|    8 | 2.5 |" in text
    assert r"&lt;b&gt;\*hi\*&lt;/b&gt;" in text
    assert text == (tmp_path / "bench.md").read_text()


def test_samples_are_kept(tmp_path: Path) -> None:
    """Raw, and as a histogram beside; those of an earlier bench in the same folder are gone."""
    histogram = pytest.importorskip("hdrh.histogram").HdrHistogram
    ns = np.arange(10, dtype=np.int64) * MS
    samples = Samples(ns, ns, ns + 5 * MS, np.zeros(10, np.uint8), np.zeros(10, np.int32))

    record = Record(tmp_path)
    path = record.samples("a/b", samples)
    record.close()

    assert (Samples.load(tmp_path / path).done_ns == samples.done_ns).all()
    read = histogram.decode((tmp_path / path).with_suffix(".hdr").read_text().strip())
    assert read.get_value_at_percentile(99) == pytest.approx(5 * MS, rel=0.001)
    Record(tmp_path).close()
    assert list((tmp_path / "samples").iterdir()) == []
