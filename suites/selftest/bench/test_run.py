"""`batchproof bench` under test: a wrong request is refused in one line, and nothing is hidden."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from batchproof.bench import options as bench_options
from batchproof.bench import run as command
from batchproof.bench.kinds import KINDS
from batchproof.bench.measurements import cost
from batchproof.bench.options import Usage
from batchproof.bench.plan import Measurement
from batchproof.bench.result import Result
from batchproof.bench.run import Options, run
from batchproof.bench.tables.table import Table
from batchproof.bench.view import View
from batchproof.cli import app
from batchproof.load.spread.ask import Wanted
from batchproof.reports import bench_markdown
from batchproof.reports.formats import bench as report
from batchproof.reports.formats.bench import BenchWriter
from batchproof.reports.formats.jsonl import LineWriter


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--target", "nonsense"], 2, "unknown target 'nonsense'"),
        (["--target", "grpc://127.0.0.1:1"], 4, "no Triton answers at grpc://127.0.0.1:1"),
        (["--work", "crypto"], 2, "--work crypto: choose from accelerator, mlp, text, image and all"),
        (["--only", "speed-of-light"], 2, "--only speed-of-light: choose from static, naive"),
        (["--only", ","], 2, "the list is empty: name at least one"),
        (["--workers-from", "127.0.0.1:5557"], 2, "--workers-from needs --workers: how many workers will come"),
        (["--workers", "2", "--workers-from", "host"], 2, "--workers-from host: write HOST:PORT, such as 127.0.0.1:5557"),
    ],
)
def test_misuse_is_refused_in_one_line(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], status: int, message: str
) -> None:
    """The message is one line, the exit status says misuse, and no folder is made."""
    result = CliRunner().invoke(app, ["bench", "--report", str(tmp_path / "out"), *arguments])
    said = [line for line in (result.stderr + capfd.readouterr().err).splitlines() if line]

    assert result.exit_code == status
    assert len(said) == 1
    assert message in said[0]
    assert not (tmp_path / "out").exists()


def test_a_missing_torch_is_refused(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """The message says how to install it, before any target is started."""
    monkeypatch.setattr(bench_options, "find_spec", lambda _: None)

    assert run(Options("nonsense", work="mlp")) == 2
    assert "pip install 'batchproof[reference]'" in capfd.readouterr().err


def test_an_engine_needs_no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """All models under load of an engine are the witness; all those of a batcher are not."""
    monkeypatch.setattr(bench_options, "find_spec", lambda _: None)
    every = Options("nonsense", work="all")

    every.check()
    assert [work.name for work in every.works(KINDS["continuous"])] == ["accelerator", "bare"]
    with pytest.raises(Usage, match="needs the module 'torch'"):
        every.works(KINDS["dynamic"])


def test_a_missing_locust_is_refused(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """The message says how to install it, before any target is started."""
    monkeypatch.setattr("batchproof.load.spread.ask.find_spec", lambda _: None)

    assert run(Options("nonsense", crew=Wanted(2))) == 2
    assert "--workers: several load generators need the module 'locust': pip install" in capfd.readouterr().err


def test_a_report_that_cannot_be_written_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The message is one line too, and the target is closed."""
    (tmp_path / "file").write_text("")

    assert run(Options("virtual", report=tmp_path / "file"), Console(file=io.StringIO())) == 4
    assert "choose another --report" in capfd.readouterr().err


@pytest.mark.parametrize("where", ["measurement", "footer", "document"])
def test_a_bench_that_is_lost_is_not_green(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], where: str
) -> None:
    """A disk that is full, at whichever line, ends the bench with one message that says what to do."""

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    owner, name = {
        "measurement": (command.Record, "measurement"), "footer": (BenchWriter, "footer"),
        "document": (bench_markdown, "write"),
    }[where]
    monkeypatch.setattr(owner, name, full)
    fine = Measurement("m", "why?", 1, 1, lambda *_: Result(valid=True, headline="fine"), lambda _found: ())
    monkeypatch.setitem(KINDS, "dynamic", replace(KINDS["dynamic"], measurements=(fine,)))

    assert run(Options("virtual", quick=True, report=tmp_path), Console(file=io.StringIO())) == 4
    assert f"{tmp_path} cannot be written: No space left on device; make room there" in capfd.readouterr().err


def test_a_disk_that_is_full_before_the_first_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """It is told like a folder that cannot be made: there is nothing to keep yet."""

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(LineWriter, "write", full)

    assert run(Options("virtual", quick=True, report=tmp_path), Console(file=io.StringIO())) == 4
    said = f"batchproof: cannot write a bench into {tmp_path}: No space left on device; choose another --report"
    assert capfd.readouterr().err.strip() == said


def test_a_whole_bench_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bench in simulated time prints plain lines where there is no terminal, and the command that repeats it."""
    monkeypatch.setattr(cost, "REQUESTS", (4000, 4000))  # there is no noise that more would average out
    arguments = ["bench", "--target", "virtual", "--quick", "--only", "cost,static", "--price-per-hour", "2", "--seed", "5"]
    result = CliRunner().invoke(app, [*arguments, "--report", str(tmp_path)])

    assert result.exit_code == 0, result.stdout
    assert "quick form, in simulated time" in result.stdout
    found = report.read(tmp_path)
    assert [one["measurement"] for one in found.measurements] == ["static", "cost"]
    again = Options("virtual", quick=True, only="cost,static", price_per_hour=2, seed=5).command()
    assert found.header["command"] == again
    assert all(f" {word}" in again for word in arguments if word != "bench")


def test_a_layout_that_breaks_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug in a table costs its measurement, but not the bench."""

    def broken(_found: Any) -> Any:
        raise ZeroDivisionError("a bug")

    fine = Result(valid=True, headline="fine", found=Table("T", ("x",), ()))
    one = Measurement("m", "why?", 1, 1, lambda *_: fine, broken)
    monkeypatch.setitem(KINDS, "dynamic", replace(KINDS["dynamic"], measurements=(one,)))

    assert run(Options("virtual", quick=True, report=tmp_path), Console(file=io.StringIO())) == 1
    (line,) = report.read(tmp_path).measurements
    assert line["word"] == "ERROR"
    assert "a bug" in line["headline"]


def test_the_live_table_stays() -> None:
    """On a terminal, the table fills in and stays when the bench is over."""
    screen = io.StringIO()
    view = View(Console(file=screen, force_terminal=True, width=100), ["static", "naive"])
    view.begin("static", "what?")
    view.say("batches of 8")
    view.end("static", "PASS", 1.25, "a knee")
    view.stop()
    view.stop()

    last = screen.getvalue().rpartition("measurement")[2]
    assert "a knee" in last
    assert "1.2 s" in last
    assert "naive" in last
