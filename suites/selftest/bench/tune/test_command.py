"""`batchproof tune` under test: misuse is refused in one line, and the result is written."""

import io
import json

import pytest
from rich.console import Console

from batchproof.bench.tune.command import TuneOptions, run_tune
from batchproof.reference_batcher import BatcherConfig

pytestmark = pytest.mark.usefixtures("longer")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget_ms": 100.0}, "leaves nothing"),
        ({"work": "toaster"}, "accelerator"),
        ({"max_batch": "8,x"}, "numbers"),
        ({"max_batch": "0"}, "from 1"),
        ({"traffic": "poissson"}, "poissson"),
        ({"traffic": "on_off:rate=3"}, "rate"),
    ],
)
def test_misuse_is_refused_in_one_line(options, message, capsys):
    """The exit status is 2, and nothing is started."""
    assert run_tune(TuneOptions(**{"target": "no-such-target", **options})) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_the_command_writes_the_configuration(tmp_path):
    """It writes a record with its footer and config.pbtxt, and prints the reasons on the console."""
    console = Console(record=True, width=120, file=io.StringIO())
    options = TuneOptions(
        "virtual", 200.0, 50.0, rate=80.0, max_batch="8", max_delay_ms="0", quick=True, seconds=20.0,
        out=tmp_path / "config.pbtxt", report=tmp_path / "report",
    )  # fmt: skip
    assert run_tune(options, console) == 0
    assert BatcherConfig.from_pbtxt((tmp_path / "config.pbtxt").read_text()).max_batch_size == 8
    assert "Shown with 99% confidence" in console.export_text()
    lines = [json.loads(line) for line in (tmp_path / "report" / "bench.jsonl").read_text().splitlines()]
    assert [line["type"] for line in lines] == ["header", "measurement", "footer"]
    assert lines[1]["measurement"] == "tune"
    assert lines[0]["command"].startswith("batchproof tune --target virtual")
