"""`batchproof lab compare-power` under test."""

from typer.testing import CliRunner

from batchproof.cli import app


def test_two_tables():
    """Without a change, and with one; the same seed draws the same runs."""
    first, second = (CliRunner().invoke(app, ["lab", "compare-power", "--comparisons", "5"]) for _ in range(2))

    assert first.exit_code == 0
    assert "truly 0 % slower" in first.output
    assert "truly 5 % slower" in first.output
    assert "| 8 and 8" in first.output
    assert first.output == second.output


def test_what_is_no_share_is_refused(capfd):
    """In one line."""
    result = CliRunner().invoke(app, ["lab", "compare-power", "--slower", "much"])

    assert result.exit_code == 2
    assert "--slower much: give a share" in result.stderr + capfd.readouterr().err
