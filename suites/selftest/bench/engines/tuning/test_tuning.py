"""Tuning an engine in simulated time: what is predicted is what is measured, and the configuration is written."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from batchproof.bench.engines.options import TextOptions
from batchproof.bench.engines.tuning.command import EngineTuneOptions
from batchproof.bench.tune.command import TuneOptions, run_tune
from batchproof.reports import measured, read_bench
from batchproof.reports.plots.catalogue import charts

TARGETS = "batchproof.suites.selftest.bench.engines.simulated"


def tuned(folder: Path, target: str = "Simulated", **engine: Any) -> tuple[int, str, Path]:
    """Tune; return the exit status, what was printed, and where the report is."""
    console = Console(record=True, width=200, file=io.StringIO())
    asked = EngineTuneOptions(**{"seqs": "4,8", "budgets": "64,256", **engine})
    options = TuneOptions(
        f"{TARGETS}:{target}", quick=True, out=folder / "config.pbtxt", report=folder / "report", engine=asked
    )
    return run_tune(options, console), console.export_text(), folder / "report"


def test_the_best_limits_are_written(tmp_path: Path) -> None:
    """More rows serve more; the simulator and the engine agree on the share that meets the objective."""
    status, said, report = tuned(tmp_path)
    (line,) = read_bench(report).measurements

    assert status == 0
    assert "max_num_seqs=8, max_num_batched_tokens=256 meets the objective" in said
    written = json.loads((tmp_path / "engine.json").read_text(encoding="utf-8"))
    assert (written["max_num_seqs"], written["max_num_batched_tokens"]) == (8, 256)
    assert all(one["kept"] == one["predicted"] for one in line["verified"])
    assert line["chosen"]["rate"] == pytest.approx(measured(report).by_id()["tune.requests_per_s[work=accelerator]"].value)
    assert read_bench(report).header["command"].startswith("batchproof tune --target")
    grid, verified = charts(read_bench(report), report).charts
    assert [cell.chosen for cell in grid.panels[0].cells].count(True) == 1  # type: ignore[union-attr]
    assert len(verified.points) == 2 * len(line["verified"])


def test_an_impossible_objective_fails(tmp_path: Path) -> None:
    """Nothing is written, and the message says what is lost."""
    status, said, _ = tuned(tmp_path, texts=TextOptions(itl_slo_ms=5))

    assert status == 1
    assert "no configuration is predicted to meet the objective at any rate" in said
    assert "loses the ITL" in said
    assert not (tmp_path / "engine.json").exists()


def test_an_engine_that_is_slower_than_predicted_is_not_believed(tmp_path: Path) -> None:
    """It has half of the rows that it was given: no rate is shown, and the exit status says so."""
    status, said, _ = tuned(tmp_path, "HalfTarget", seqs="8", budgets="256", texts=TextOptions(ttft_slo_ms=40))

    assert status == 1
    assert "no configuration was shown to meet the objective" in said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"engine": EngineTuneOptions(seqs="4,x")}, "--max-seqs takes whole numbers from 1"),
        ({"engine": EngineTuneOptions(seqs="64", budgets="32")}, "each row needs a token"),
        ({"slo_p99_ms": 50.0}, "--slo-p99-ms: that is not for an engine with continuous batching"),
        ({"target": "virtual", "engine": EngineTuneOptions(seqs="4")}, "--max-seqs: only engines with continuous batching"),
        ({"target": "virtual", "work": "bare"}, "--work bare: that is not for a dynamic batcher"),
    ],
)
def test_misuse_is_refused_in_one_line(
    given: dict[str, Any], said: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The exit status is 2, and no folder is made."""
    asked = {"target": "continuous", "report": tmp_path / "out", "out": tmp_path / "config.pbtxt", **given}

    assert run_tune(TuneOptions(**asked), Console(file=io.StringIO())) == 2
    told = capfd.readouterr().err
    assert said in told
    assert told.count("\n") == 1
    assert not (tmp_path / "out").exists()
