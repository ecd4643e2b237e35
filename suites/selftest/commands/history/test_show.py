"""`batchproof history list` and `show` under test."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from batchproof.reports.figures import Figure
from batchproof.suites.selftest.command_line import invoke, one_message
from batchproof.suites.selftest.commands.history.conftest import FIGURE, Checkout, bench_folder


@pytest.fixture
def two(checkout: Checkout, capfd: pytest.CaptureFixture[str]) -> Checkout:
    """A history with two runs, the older one of the commit before the last."""
    hostile = {"name": "\x1b[31mx", "version": "", "reached": "x", "contact": "", "sight": "wire", "claims": {}}
    other = Figure("naive.gain[work=mlp]", 3.5, "1", "higher", valid=False)
    here, before = ("--repo", checkout.folder), ("--commit", "HEAD~1", "--dirty")
    invoke(capfd, "history", "add", bench_folder(Path("a"), FIGURE), *here)
    invoke(capfd, "history", "add", bench_folder(Path("b"), FIGURE, other, target=hostile), *before, *here)
    return checkout


def test_runs_are_listed_in_order_of_their_commits(two: Checkout, capfd: pytest.CaptureFixture[str]) -> None:
    """The newest last; a `+` says that there were changes."""
    status, out, _ = invoke(capfd, "history", "list")

    rows = [line.split() for line in out.splitlines()]
    assert status == 0
    assert rows[0] == ["run", "measured", "commit", "branch", "target", "form", "host", "figures"]
    assert [(row[0], row[2]) for row in rows[1:]] == [("2", two.commits[1][:10] + "+"), ("1", two.commits[2][:10])]
    assert "\x1b" not in out


def test_a_list_says_what_it_leaves_out(two: Checkout, capfd: pytest.CaptureFixture[str]) -> None:
    """And what restricts it may leave nothing."""
    assert "the newest 1 of 2 runs: --last shows more" in invoke(capfd, "history", "list", "--last", 1)[1]
    assert [json.loads(line)["id"] for line in invoke(capfd, "history", "list", "--json")[1].splitlines()] == [2, 1]
    assert invoke(capfd, "history", "list", "--target", "x", "--json")[0] == 0
    assert invoke(capfd, "history", "list", "--target", "gone")[0] == 5


def test_a_run_is_shown_whole(two: Checkout, capfd: pytest.CaptureFixture[str]) -> None:
    """With its figures, their units and bounds, and what is no result."""
    status, out, _ = invoke(capfd, "history", "show", 2)

    assert status == 0
    assert f"commit     {two.commits[1][:10]}+" in out
    assert "  sweep.best_rows_per_s[work=mlp]  100 rows/s  (99 to 102)\n" in out
    assert "  naive.gain[work=mlp]             3.5  INVALID\n" in out
    assert json.loads(invoke(capfd, "history", "show", 2, "--json")[1])["figures"][0]["id"] == "naive.gain[work=mlp]"


def test_a_run_that_is_not_there(two: Checkout, capfd: pytest.CaptureFixture[str]) -> None:
    """The message says how to see which there are."""
    status, _, err = invoke(capfd, "history", "show", 99)

    assert status == 2
    assert one_message(err) == "batchproof: there is no run 99: `batchproof history list` shows which there are"


@pytest.mark.parametrize("verb", [("list",), ("show", "1"), ("prune", "--keep", "1"), ("export",), ("upgrade",)])
def test_without_a_history_each_verb_says_so(verb: tuple[str, ...], capfd: pytest.CaptureFixture[str]) -> None:
    """And none makes one."""
    status, _, err = invoke(capfd, "history", *verb)

    assert (status, Path("reports").exists()) == (2, False)
    assert one_message(err).startswith("batchproof: there is no history at reports/history.sqlite: `batchproof history add")
