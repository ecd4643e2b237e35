"""`batchproof history add` under test: the right commit, and a message for everything that has none."""

from __future__ import annotations

from pathlib import Path

import pytest

from batchproof.reports.history.queries import entries
from batchproof.reports.history.run import Run
from batchproof.reports.history.store import opened
from batchproof.suites.selftest.command_line import invoke, one_message
from batchproof.suites.selftest.commands.history.conftest import FIGURE, Checkout, bench_folder, started

STORE = Path("reports/history.sqlite")


def kept() -> list[Run]:
    """Return the runs in the history."""
    with opened(str(STORE)) as store:
        return [entry.run for entry in entries(store)]


def test_a_run_is_kept_with_the_commit_that_is_checked_out(checkout: Checkout, capfd: pytest.CaptureFixture[str]) -> None:
    """Its hash, its time, its branch, and that nothing was changed; adding it again changes nothing."""
    folder = bench_folder(Path("bench"), FIGURE)

    first = invoke(capfd, "history", "add", folder, "--repo", checkout.folder)
    again = invoke(capfd, "history", "add", folder, "--repo", checkout.folder)

    (run,) = kept()
    assert run.commit is not None
    assert (run.commit.sha, run.commit.at, run.commit.dirty, run.commit.branch) == (
        checkout.commits[2], 1_700_007_200, False, "main")
    assert (run.kind, run.target, run.version, run.form) == ("bench", "reference", "1", "bench quick")
    assert run.figures == (FIGURE,)
    assert (first[0], again[0], first[1].split(":")[0], again[1].split(":")[0]) == (0, 0, "added", "there already")
    none = invoke(capfd, "history", "add", folder, "--no-commit")
    assert none[1] == again[1]  # with the commit that is kept, not the one that was given now


def test_changes_are_told(checkout: Checkout, capfd: pytest.CaptureFixture[str]) -> None:
    """A changed file makes the commit dirty; a file that git does not know does not."""
    (checkout.folder / "new").touch()
    invoke(capfd, "history", "add", bench_folder(Path("a"), FIGURE), "--repo", checkout.folder)
    (checkout.folder / "file").write_text("changed")
    invoke(capfd, "history", "add", bench_folder(Path("b"), FIGURE, seed=2, quick=False), "--repo", checkout.folder)

    assert sorted(run.commit.dirty for run in kept() if run.commit) == [False, True]


def test_a_commit_can_be_named(checkout: Checkout, capfd: pytest.CaptureFixture[str]) -> None:
    """By anything that git understands; what it does not know is refused before anything is added."""
    given = ("--repo", checkout.folder, "--branch", "night")

    named = invoke(capfd, "history", "add", bench_folder(Path("a"), FIGURE), "--commit", "HEAD~1", *given)
    (run,) = kept()
    unknown = invoke(capfd, "history", "add", bench_folder(Path("b"), FIGURE), "--commit", "gone", *given)
    option = invoke(capfd, "history", "add", bench_folder(Path("b"), FIGURE), "--commit=--all", *given)

    assert run.commit is not None
    assert (named[0], run.commit.sha, run.commit.branch) == (0, checkout.commits[1], "night")
    assert (unknown[0], option[0], len(kept())) == (2, 2, 1)
    assert one_message(unknown[2]).startswith("batchproof: --commit gone: git knows no such commit in ")


def test_a_run_from_before_the_commit_did_not_measure_it(checkout: Checkout, capfd: pytest.CaptureFixture[str]) -> None:
    """The message says what would be right: to name the commit, or none."""
    folder = started(bench_folder(Path("a"), FIGURE), "2023-11-14T23:00:00Z")

    wrong = invoke(capfd, "history", "add", folder, "--repo", checkout.folder)
    none = invoke(capfd, "history", "add", folder, "--repo", checkout.folder, "--no-commit")

    assert (wrong[0], none[0], [run.commit for run in kept()]) == (2, 0, [None])
    assert "before the commit that is checked out was made (2023-11-15T00:13:20Z)" in one_message(wrong[2])


def test_outside_of_a_checkout_there_is_no_commit(capfd: pytest.CaptureFixture[str]) -> None:
    """And the line that is printed says so."""
    status, out, _ = invoke(capfd, "history", "add", bench_folder(Path("a"), FIGURE), "--repo", "/")

    assert (status, [run.commit for run in kept()], "no commit" in out) == (0, [None], True)


def test_a_folder_that_cannot_be_read_stops_all(capfd: pytest.CaptureFixture[str]) -> None:
    """Nothing is added, not even from the folders before it."""
    good, bad = bench_folder(Path("a"), FIGURE), bench_folder(Path("b"), FIGURE)
    (bad / "bench.jsonl").write_text("{}\n")

    status, _, err = invoke(capfd, "history", "add", good, bad)

    assert (status, STORE.exists()) == (2, False)
    assert one_message(err) == "batchproof: b/bench.jsonl: the first line is not a header, so this is not bench.jsonl"


def test_a_folder_without_figures_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    """The others are added all the same."""
    status, out, err = invoke(capfd, "history", "add", bench_folder(Path("a"), FIGURE), bench_folder(Path("b")))

    assert (status, out.count("added"), len(kept())) == (5, 1, 1)
    assert one_message(err) == "batchproof: b/bench.jsonl: there are no figures in it: nothing in it was measured"


def test_a_truncated_bench_is_kept_and_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    """What was measured was measured."""
    _, out, _ = invoke(capfd, "history", "add", bench_folder(Path("a"), FIGURE, whole=False))

    assert "; the report lacks its footer" in out
    assert [run.about["truncated"] for run in kept()] == ["the report lacks its footer"]


def test_what_changes_the_meaning_of_figures_is_part_of_the_form(capfd: pytest.CaptureFixture[str]) -> None:
    """The quick form, an objective and a price; the seed is not."""
    price = {"per_hour": 1.2, "currency": "EUR"}
    for number, more in enumerate(({}, {"quick": False}, {"slo_ns": 50_000_000}, {"price": price}, {"seed": 9})):
        invoke(capfd, "history", "add", bench_folder(Path(str(number)), FIGURE, **more, works=[str(number)]), "--no-commit")

    assert {run.form for run in kept()} == {"bench quick", "bench full", "bench quick slo=50ms", "bench quick price=1.2EUR"}
