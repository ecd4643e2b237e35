"""`batchproof lab compare-rates` under test."""

from typer.testing import CliRunner

from batchproof.cli import app
from batchproof.suites.selftest.runs import best, run_of


def test_the_table_of_answers(tmp_path):
    """A line for all figures that decide, and one for each."""
    for number, rate in enumerate((400.0, 400.0, 360.0)):
        run_of(tmp_path / str(number), best(rate))

    result = CliRunner().invoke(app, ["lab", "compare-rates", str(tmp_path)])

    assert result.exit_code == 0
    assert "3 runs against each other, 1 a side, margin 5 %" in result.output
    assert result.output.count("33.33 %") == 2


def test_what_cannot_be_compared_is_said_in_one_line(tmp_path, capfd):
    """The status is that of misuse."""
    run_of(tmp_path / "0", best(400.0))

    result = CliRunner().invoke(app, ["lab", "compare-rates", str(tmp_path)])

    assert result.exit_code == 2
    assert "a side need more runs than 1" in result.stderr + capfd.readouterr().err
