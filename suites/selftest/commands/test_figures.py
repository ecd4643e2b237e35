"""`batchproof figures` under test: the page is up to date, and a folder's figures are shown with their intervals."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from batchproof.cli import app
from batchproof.commands.figures import in_words, markdown
from batchproof.reports.figure_names import declared
from batchproof.reports.figures import Figure
from batchproof.suites.selftest.runs import END, HEAD, bench_of, line

P99 = Figure("open.p99_ns[load=0.6]", 5e6, "ns", "lower", 4e6, 6e6, 1000)
PAGE = Path(__file__).parents[3] / "docs" / "figures.md"


def shown(*arguments):
    """Return the exit status and what was printed."""
    result = CliRunner().invoke(app, ["figures", *map(str, arguments)])
    return result.exit_code, result.output


def test_every_name_is_on_the_page():
    """Each has its line, in the table of what measures it."""
    page = markdown()

    assert [name for name in declared() if page.count(f"`{name}`") != 1] == []


@pytest.mark.skipif(not PAGE.is_file(), reason="no docs/figures.md here: the documentation is not installed")
def test_the_page_is_what_the_command_prints():
    """If this fails: `batchproof figures > docs/figures.md`."""
    status, printed = shown()

    assert (status, printed) == (0, PAGE.read_text(encoding="utf-8"))


def test_the_figures_of_a_folder_are_printed(tmp_path):
    """Each in one line, with its interval; as JSON, as they are in the file."""
    folder = bench_of(tmp_path, HEAD, line("a", P99), line("b"), END)

    assert shown(folder) == (0, f"{folder}: 1 figure\n  {in_words(P99)}\n")
    assert json.loads(shown(folder, "--json")[1]) == {str(folder): [P99.facts()]}
    assert json.loads(shown("--json")[1])[0]["name"] == next(iter(declared()))


def test_a_run_that_was_killed_says_so(tmp_path):
    """What it has is shown; nobody takes it for all that there is."""
    folder = bench_of(tmp_path, HEAD, line("a", P99))

    assert shown(folder)[1].startswith(f"{folder}: 1 figure (truncated: the run never got to its end)\n")


@pytest.mark.parametrize(
    ("figure", "words"),
    [
        (P99, "open.p99_ns[load=0.6] = 5e+06 ns (4e+06 to 6e+06), n=1000"),
        (Figure("a", 1.5, "1", "higher"), "a = 1.5, n=1"),
        (Figure("a", 1.5, "1", "higher", low=1.0, valid=False), "a = 1.5 (1 to ?), n=1, not a result"),
    ],
)
def test_a_figure_in_words(figure, words):
    """What has no bound shows none, and what is not a result says so."""
    assert in_words(figure) == words


def test_what_cannot_be_read_is_said_in_one_line(tmp_path, capfd):
    """The status is that of misuse."""
    assert shown(tmp_path / "gone")[0] == 2
    assert capfd.readouterr().err.count("\n") <= 1
