"""`batchproof history import` under test: what a file says counts, and the rest is asked for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from batchproof.reports.history.queries import entries
from batchproof.reports.history.run import Run
from batchproof.reports.history.store import opened
from batchproof.suites.selftest.command_line import invoke, one_message
from batchproof.suites.selftest.commands.history.conftest import Checkout
from batchproof.suites.selftest.reports.history.imports.reading import HERE
from batchproof.suites.selftest.reports.history.imports.test_locust import STATS
from batchproof.suites.selftest.reports.history.samples import run

STORE = "reports/history.sqlite"


def kept() -> list[Run]:
    """Return the runs in the history."""
    with opened(STORE) as store:
        return [entry.run for entry in entries(store)]


@pytest.fixture
def stats(tmp_path: Path) -> Path:
    """A file of Locust, written on 2026-11-23 at noon."""
    path = tmp_path / "x_stats.csv"
    path.write_text(STATS)
    os.utime(path, (1_795_435_200, 1_795_435_200))
    return path


def test_what_a_file_says_counts(checkout: Checkout, capfd: pytest.CaptureFixture[str]) -> None:
    """Its commit, its target and its host, whatever is checked out here; its name is kept."""
    file = HERE / "pytest_benchmark.json"
    status, out, _ = invoke(capfd, "history", "import", file, "--repo", checkout.folder, "--target", "x", "--here")
    (one,) = kept()

    assert (status, out.startswith("added: run 1, imported of fx")) == (0, True)
    assert one.commit is not None
    assert (one.commit.sha[:6], one.target, one.host.facts["cpu"]) == ("5f1c2e", "fx", "AMD EPYC")
    assert (one.kind, one.about["file"], one.about["python"]) == ("imported", "pytest_benchmark.json", "3.11.7")


def test_what_a_file_does_not_say_is_given(checkout: Checkout, stats: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The target, the host, and the commit that is checked out; the time is the file's own."""
    given = ("--repo", checkout.folder, "--target", "shop", "--target-version", "7", "--here")
    assert invoke(capfd, "history", "import", stats, *given)[0] == 0
    (one,) = kept()

    assert (one.target, one.version, one.when) == ("shop", "7", 1_795_435_200)
    assert one.commit is not None
    assert one.commit.sha == checkout.commits[2]
    assert one.host.fingerprint != "unknown"


def test_a_time_can_be_given(stats: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A wrong one is refused."""
    assert invoke(capfd, "history", "import", stats, "--no-commit", "--when", "2026-01-01")[0] == 0
    wrong = invoke(capfd, "history", "import", stats, "--no-commit", "--when", "soon")

    assert [one.when for one in kept()] == [1_767_225_600]
    assert (wrong[0], one_message(wrong[2])) == (
        2, "batchproof: --when soon: not a date such as 2026-11-23 or 2026-11-23T09:00:00Z")


def test_one_bad_file_stops_all(stats: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Nothing is added, not even from the files before it."""
    (tmp_path / "bad").write_text("hello")
    status, _, err = invoke(capfd, "history", "import", stats, "bad", "--no-commit")

    assert (status, Path(STORE).exists()) == (2, False)
    assert one_message(err).startswith("batchproof: bad: no reader knows such a file (known are pytest-benchmark, ")


def test_a_history_moves_by_export_and_import(capfd: pytest.CaptureFixture[str]) -> None:
    """Every run comes back as it was; the second time, nothing is new."""
    from batchproof.reports.history.writing import add

    with opened(STORE, create=True) as store:
        list(add(store, [run(number) for number in range(5)]))
    invoke(capfd, "history", "export", "--out", "all.jsonl")
    first = invoke(capfd, "history", "import", "all.jsonl", "--store", "other.sqlite")
    again = invoke(capfd, "history", "import", "all.jsonl", "--store", "other.sqlite")
    with opened("other.sqlite") as store:
        there = [entry.run for entry in entries(store)]

    assert there == kept()
    assert (first[1].count("added"), again[1].count("there already")) == (5, 5)


def test_a_truncated_export_gives_what_is_whole(capfd: pytest.CaptureFixture[str]) -> None:
    """And says that this is not all."""
    from batchproof.reports.history.writing import add

    with opened(STORE, create=True) as store:
        list(add(store, [run(number) for number in range(5)]))
    out = invoke(capfd, "history", "export")[1].splitlines(keepends=True)
    Path("cut.jsonl").write_text("".join(out[:4]))
    status, _, err = invoke(capfd, "history", "import", "cut.jsonl", "--store", "other.sqlite")
    with opened("other.sqlite") as store:
        there = len(list(entries(store)))

    assert (status, there) == (2, 3)
    assert one_message(err) == "batchproof: cut.jsonl: the export is truncated: 3 whole runs were added; export it again"
