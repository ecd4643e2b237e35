"""`batchproof history changes` under test, from a repository to the commit that is to blame."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import Any

import pytest

from batchproof.reports.history import Commit
from batchproof.reports.history.store import opened
from batchproof.reports.history.writing import add
from batchproof.suites.selftest.command_line import invoke, one_message
from batchproof.suites.selftest.commands.history.conftest import FIGURE, Checkout
from batchproof.suites.selftest.reports.history.samples import HOST, OTHER, run

pytest.importorskip("otava", reason="Apache Otava is not installed: pip install --no-deps apache-otava==0.8.0")


def keep(checkout: Checkout, values: list[float], **more: Any) -> None:
    """Measure commits of the checkout, one after the other, as many as there are values; 0 stands for none."""
    runs = []
    for at, value in enumerate(values):
        while len(checkout.commits) <= at:
            checkout.commit(f"number {at}")
        if value:
            commit = Commit(checkout.commits[at], 1_700_000_000 + 3600 * at, branch="main")
            figures = (replace(FIGURE, value=value, low=None, high=None),)
            runs.append(run(at, **{"commit": commit, "figures": figures, **more}))
    with opened("reports/history.sqlite", create=True) as store:
        list(add(store, runs))


def test_a_slow_down_is_found_with_its_commit(checkout: Checkout, capfd: pytest.CaptureFixture[str]) -> None:
    """What, by how much, between which runs, and which commit: all on its first page."""
    keep(checkout, [100.0, 100.5] * 6 + [95.0, 95.5] * 3)
    here = ("--repo", checkout.folder)

    status, out, _ = invoke(capfd, "history", "changes", *here)

    assert status == 0
    assert out.splitlines() == [
        "SLOWER  -5.0 %  sweep.best_rows_per_s[work=mlp]",
        f"  reference, bench quick, host {HOST.fingerprint}",
        "  from 100.2 to 95.25 rows/s: means of 12 runs before and 6 runs after",
        "  between run 12 and run 13",
        f"  this commit: {checkout.commits[12][:10]} number 12",
        "",
        "1 change point in 1 series",
    ]
    gate = [invoke(capfd, "history", "changes", *here, "--fail-within", last)[0] for last in (5, 6)]
    assert gate == [0, 1]
    assert invoke(capfd, "history", "changes", *here, "--min-change", "0.1")[1] == "0 change points in 1 series\n"


def test_a_speed_up_is_no_failure_and_may_be_one_of_several_commits(
    checkout: Checkout, capfd: pytest.CaptureFixture[str]
) -> None:
    """Three commits before the first fast one were not measured."""
    keep(checkout, [100.0, 100.5] * 5 + [0, 0, 0] + [120.0, 121.0] * 4)

    status, out, _ = invoke(capfd, "history", "changes", "--repo", checkout.folder, "--json", "--fail-within", 99)
    found = json.loads(out)

    assert (status, found["change"], found["exact"], found["commits"]) == (0, "FASTER", False, checkout.commits[10:14])
    assert found["says"].startswith("somewhere in these 4 commits")


def test_the_host_itself_is_no_commits_fault(checkout: Checkout, capfd: pytest.CaptureFixture[str]) -> None:
    """What is measured of the host alongside a bench is told, and fails nothing."""
    figure = replace(FIGURE, id="host.compute_ns[when=after]", better="lower", low=None, high=None)
    values = [100.0, 100.5] * 5 + [200.0, 201.0] * 4
    runs = [run(at, figures=(replace(figure, value=value),)) for at, value in enumerate(values)]
    with opened("reports/history.sqlite", create=True) as store:
        list(add(store, runs))

    status, out, _ = invoke(capfd, "history", "changes", "--repo", checkout.folder, "--fail-within", 99)

    assert (status, out.splitlines()[4]) == (0, "  not a commit: the host itself became faster or slower, or was busier")


def test_hosts_are_separate(checkout: Checkout, capfd: pytest.CaptureFixture[str]) -> None:
    """A slower machine that takes its turn with a faster one is no change of either."""
    keep(checkout, [100.0, 100.5] * 8)
    keep(checkout, [50.0, 50.5] * 8, host=OTHER)

    assert invoke(capfd, "history", "changes", "--repo", checkout.folder)[1] == "0 change points in 2 series\n"


def test_ancestry_decides_where_times_are_equal(checkout: Checkout, capfd: pytest.CaptureFixture[str]) -> None:
    """A rebase gives many commits one time: git knows their order all the same."""
    keep(checkout, [100.0, 100.5] * 6 + [95.0, 95.5] * 3)
    with opened("reports/history.sqlite", write=True) as store, store.writing() as connection:
        connection.exec_driver_sql("UPDATE runs SET at = 5, commit_at = 5, measured = 10000 - measured % 5000")
        connection.exec_driver_sql("UPDATE points SET at = 5")

    found = invoke(capfd, "history", "changes", "--repo", checkout.folder)[1]

    assert f"this commit: {checkout.commits[12][:10]}" in found


def test_what_cannot_be_searched_is_told(checkout: Checkout, capfd: pytest.CaptureFixture[str]) -> None:
    """Too few runs, a pattern that fits nothing, several branches."""
    keep(checkout, [100.0] * 7)
    short = invoke(capfd, "history", "changes")
    none = invoke(capfd, "history", "changes", "--figure", "gone.*")
    keep(checkout, [100.0] * 8, commit=Commit("a" * 40, 1_700_000_000, branch="topic"), host=HOST, target="reference")

    assert (short[0], none[0]) == (5, 5)
    assert one_message(none[2]) == "batchproof: no series fits --figure gone.*"
    assert one_message(short[2]) == "batchproof: no series has 8 valid runs, which a change point needs"
    assert "runs of several branches are in one series (main, topic): --branch takes one" in invoke(
        capfd, "history", "changes")[1]


def test_without_otava(checkout: Checkout, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """One message says what to install."""
    keep(checkout, [1.0] * 10 + [2.0] * 10)
    monkeypatch.setitem(sys.modules, "otava.analysis", None)

    status, _, err = invoke(capfd, "history", "changes")

    assert (status, one_message(err)) == (
        2, "batchproof: finding change points needs the module 'otava': pip install --no-deps apache-otava==0.8.0")
