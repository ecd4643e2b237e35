"""Tests of `batchproof report FOLDER --plots DIR`."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from batchproof.bench import pictures
from batchproof.bench.run import Options, run
from batchproof.commands.plots import write_plots
from batchproof.exit_status import ExitStatus
from batchproof.suites.selftest.reports.plots.benches import static, written

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def drawable() -> None:
    """Skip where nothing can be drawn."""
    pytest.importorskip("matplotlib", reason="the extra `plots` (matplotlib) is not installed")


@pytest.mark.usefixtures("drawable")
def test_it_writes_a_picture_of_each_kind_and_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The folder is made, and what was written is said."""
    written(tmp_path / "bench", static((1, 20), (2, 30)))

    assert write_plots([tmp_path / "bench"], tmp_path / "a" / "plots") == ExitStatus.FINE
    assert sorted(path.name for path in (tmp_path / "a" / "plots").iterdir()) == ["static-w.png", "static-w.svg"]
    assert (tmp_path / "bench" / "report.html").is_file()
    assert f"2 files with charts in {tmp_path / 'a' / 'plots'}" in capsys.readouterr().out


@pytest.mark.usefixtures("drawable")
def test_several_benches_have_a_folder_each(tmp_path: Path) -> None:
    """Their charts have the same names."""
    for name in ("one", "two"):
        written(tmp_path / name, static((1, 20)))

    assert write_plots([tmp_path / "one", tmp_path / "two"], tmp_path / "plots") == ExitStatus.FINE
    assert sorted(path.name for path in (tmp_path / "plots").iterdir()) == ["one", "two"]
    assert write_plots([tmp_path / "one", tmp_path / "one"], tmp_path / "plots") == ExitStatus.MISUSE


def test_what_it_cannot_draw_it_refuses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder without a bench, a file where a folder belongs, a bench that is none, and no matplotlib."""
    (tmp_path / "file").write_text("")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "bench.jsonl").write_text("{}\n")
    written(tmp_path / "bench", static((1, 20)))

    assert write_plots([tmp_path], tmp_path / "plots") == ExitStatus.MISUSE
    assert "no bench.jsonl or ab.jsonl in" in capsys.readouterr().err
    assert write_plots([tmp_path / "bench"], tmp_path / "file") == ExitStatus.MISUSE
    assert "this is a file; name a folder" in capsys.readouterr().err
    monkeypatch.setattr(pictures, "find_spec", lambda _: True)
    assert write_plots([tmp_path / "broken"], tmp_path / "plots") == ExitStatus.MISUSE
    assert "not a header" in capsys.readouterr().err
    monkeypatch.setattr(pictures, "find_spec", lambda _: None)
    assert write_plots([tmp_path / "bench"], tmp_path / "plots") == ExitStatus.MISUSE
    assert "pip install 'batchproof[plots]'" in capsys.readouterr().err


@pytest.mark.usefixtures("drawable")
def test_a_place_that_cannot_be_written_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not even by root: a parent of the folder is a file."""
    written(tmp_path / "bench", static((1, 20)))
    (tmp_path / "file").write_text("")

    assert write_plots([tmp_path / "bench"], tmp_path / "file" / "plots") == ExitStatus.UNAVAILABLE
    assert "cannot be written" in capsys.readouterr().err


def test_a_bench_refuses_plots_that_it_could_not_draw_before_it_measures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Minutes of measuring are not lost to a missing module."""
    monkeypatch.setattr(pictures, "find_spec", lambda _: None)

    assert run(Options("virtual", report=tmp_path / "bench", plots=tmp_path / "plots")) == ExitStatus.MISUSE
    assert "batchproof[plots]" in capsys.readouterr().err
    assert not (tmp_path / "bench").exists()


@pytest.mark.usefixtures("drawable")
def test_the_command_line_takes_it(tmp_path: Path) -> None:
    """For a bench as it runs, and for its folder afterwards."""
    bench, plots = tmp_path / "bench", tmp_path / "plots"
    measure = ["bench", "--target", "virtual", "--quick", "--only", "static", "--report", str(bench), "--plots", str(plots)]
    for arguments in (measure, ["report", str(bench), "--plots", str(plots)]):
        done = subprocess.run(
            [sys.executable, "-m", "batchproof", *arguments], capture_output=True, text=True, timeout=60, check=False
        )

        assert done.returncode == 0, done.stderr
        assert f"2 files with charts in {plots}" in done.stdout
        assert str(bench / "report.html") in done.stdout
