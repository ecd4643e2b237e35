"""`batchproof compare` under test: its statuses, its forms, and one message for whatever cannot be compared."""

import json

import pytest
from typer.testing import CliRunner

from batchproof.cli import app
from batchproof.commands.compare import Usage, share_of
from batchproof.suites.selftest.runs import HEAD, HOST, bench_of, best, p99, run_of


def compared(*arguments):
    """Return the exit status and what was printed."""
    result = CliRunner().invoke(app, ["compare", *map(str, arguments)])
    return result.exit_code, result.output


@pytest.fixture
def runs(tmp_path):
    """`runs(400.0, 396.0)`: folders with a run of each rate."""
    def make(*rates, name="run", **how):
        folders = [tmp_path / name / str(number) for number, _ in enumerate(rates)]
        for folder, rate in zip(folders, rates, strict=True):
            run_of(folder, best(rate), p99(5e6), **how)
        return folders

    return make


@pytest.mark.parametrize(
    ("new", "more", "status", "word"),
    [
        (400.0, [], 75, "UNPROVEN"),
        (400.0, ["--run-spread", "0.5%"], 0, "SAME"),
        (440.0, [], 0, "FASTER"),
        (360.0, [], 1, "SLOWER"),
        (360.0, ["--fail-if-slower", "20%"], 0, "SAME"),
        (396.0, ["--fail-if-slower", "0.01"], 75, "UNPROVEN"),
        (360.0, ["--figures", "open.*", "--run-spread", "0.5%"], 0, "SAME"),
    ],
)
def test_the_exit_status_is_the_answer(runs, new, more, status, word):
    """0: no worse; 1: slower; 75: it cannot be told."""
    code, printed = compared(*runs(400.0, new), *more)

    assert code == status
    assert printed.startswith(f"{word}: ")


def test_the_table_is_not_cut(runs):
    """An id that is cut off could not be given to --figures; what has not changed is shown if asked for."""
    base, new = runs(400.0, 360.0)

    _, printed = compared(base, new)
    _, everything = compared(base, new, "--all")

    assert "sweep.best_rows_per_s[work=accelerator]" in printed
    assert "-15.9 % to -3.7 %" in printed
    assert "1 other figure: 1 UNPROVEN" in printed
    assert p99(1.0).id not in printed.partition("─")[2]
    assert p99(1.0).id in everything


def test_other_forms(runs):
    """JSON for scripts, Markdown for pull requests; the status is the same."""
    base, new = runs(400.0, 360.0)

    code, printed = compared(base, new, "--format", "json")
    assert (code, json.loads(printed)["change"]) == (1, "SLOWER")
    code, printed = compared(base, new, "--format", "markdown")
    assert (code, printed.startswith("**SLOWER: ")) == (1, True)


def test_several_runs_a_side(runs, tmp_path):
    """Given one by one, or as a folder that holds them."""
    base, new = runs(392.0, 400.0, 408.0), runs(372.0, 380.0, 388.0, name="new")

    options = [("--base", one) for one in base] + [("--new", one) for one in new]
    one_by_one = compared(*(word for option in options for word in option))
    as_folders = compared(tmp_path / "run", tmp_path / "new")

    assert one_by_one == as_folders
    assert one_by_one[0] == 75
    assert "3 and 3" in one_by_one[1]
    assert "the intervals come from the spread between runs: without a change, at most 1 % end as SLOWER" in one_by_one[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["{run}/0"], "give two folders, BASE and NEW"),
        (["{run}/0", "{run}/1", "--base", "{run}/0"], "give two folders, BASE and NEW"),
        (["--base", "{run}/0"], "two sides are compared"),
        ([], "two sides are compared"),
        (["{run}/0", "{run}/0"], ""),
        (["{run}/0", "{run}/gone"], "no such file"),
        (["{run}/0", "{run}/1", "--fail-if-slower", "fast"], "--fail-if-slower fast: give a share"),
        (["{run}/0", "{run}/1", "--run-spread", "some"], "--run-spread some: give a share"),
        (["{run}/0", "{run}/1", "--figures", "opn.*"], "no figure of BASE matches opn.*"),
        (["--base", "{run}/0", "--base", "{run}/0", "--new", "{run}/1"], "is given twice"),
        (["{run}/0", "{run}/empty"], "in this folder"),
        (["{run}/0", "{run}/foreign"], "not a header"),
        (["{run}/0", "{run}/newer"], "its format is 99"),
        (["{run}/0", "{run}/cut"], "truncated"),
        (["{run}/0", "{run}/elsewhere"], "do not come from one kind of machine (processor A and B)"),
    ],
)
def test_what_cannot_be_compared_is_said_in_one_line(runs, tmp_path, capfd, arguments, said):
    """The status is that of misuse, and there is no traceback."""
    runs(400.0, 400.0)
    run = tmp_path / "run"
    (run / "empty").mkdir()
    for name, text in (("foreign", "<html>"), ("newer", '{"type": "header", "format": 99}\n')):
        (run / name).mkdir()
        (run / name / "bench.jsonl").write_text(text)
    bench_of(run / "cut", HEAD)
    run_of(run / "elsewhere", best(400.0), host=HOST | {"cpu": "B"})

    result = CliRunner().invoke(app, ["compare", *(word.format(run=run) for word in arguments)])
    told = [one for one in (result.stderr + capfd.readouterr().err).splitlines() if one]

    if not said:  # a run compared with itself shows nothing
        assert result.exit_code == 75
        return
    assert (result.exit_code, len(told)) == (2, 1)
    assert said in told[0]


def test_different_machines_with_a_correction(runs, tmp_path):
    """It says by how much times may differ, and that they do."""
    runs(400.0)
    run_of(tmp_path / "elsewhere", best(400.0), host=HOST | {"cpu": "B"})

    code, printed = compared(tmp_path / "run" / "0", tmp_path / "elsewhere", "--correct", "--run-spread", "0")

    assert code == 0
    assert "different machines: processor A and B; times may differ by 0.98 to 1.02 (computing 0.98 to 1.02" in printed


@pytest.mark.parametrize(("text", "share"), [("5%", 0.05), ("0.05", 0.05), ("2.5 %", 0.025), ("0", 0.0), (".1", 0.1)])
def test_a_margin_is_a_share(text, share):
    """With or without a per cent sign."""
    assert share_of(text, "--fail-if-slower") == pytest.approx(share)


@pytest.mark.parametrize("text", ["", "5", "-1%", "100%", "nan", "5%%", "5 percent"])
def test_what_is_no_margin_is_refused(text):
    """The message says what is."""
    with pytest.raises(Usage, match=r"such as 5% or 0\.05"):
        share_of(text, "--fail-if-slower")
