"""`batchproof compare` with runs of a history."""

import pytest
from typer.testing import CliRunner

from batchproof.cli import app
from batchproof.suites.selftest.runs import best, run_of

for _module in ("sqlalchemy", "alembic"):
    pytest.importorskip(_module, reason="the extra `history` is not installed")


@pytest.fixture
def command(tmp_path):
    """`command("compare", ...)`: the status and the output of a command on a history with two runs."""
    def run(*arguments):
        result = CliRunner().invoke(app, [*map(str, arguments), "--store", str(tmp_path / "history.sqlite")])
        return result.exit_code, result.output

    for rate in (400.0, 360.0):
        run_of(tmp_path / str(rate), best(rate))
        assert run("history", "add", tmp_path / str(rate), "--no-commit")[0] == 0
    return run


def test_runs_are_named_by_their_numbers(command, tmp_path):
    """On both sides, or on one."""
    assert command("compare", "history:1", "history:2")[0] == 1
    code, printed = command("compare", "history:1", tmp_path / "400.0")
    assert code == 75
    assert "a history knows a machine by its hardware alone" in printed


@pytest.mark.parametrize(("word", "said"), [("history:7", "there is no run 7"), ("history:x", "such as history:12")])
def test_what_is_not_there_is_said_in_one_line(command, capfd, word, said):
    """The status is that of misuse."""
    code, printed = command("compare", "history:1", word)

    told = printed + capfd.readouterr().err
    assert (code, told.count("\n")) == (2, 1)
    assert said in told
