"""Queries under test, in a file and in a PostgreSQL."""

from __future__ import annotations

from batchproof.reports.figures import Figure
from batchproof.reports.history import Commit
from batchproof.reports.history.queries import Which, all_series, counted, entries, heads, numbers, points_of, series
from batchproof.reports.history.store import opened
from batchproof.reports.history.writing import add
from batchproof.suites.selftest.reports.history.samples import HOST, OTHER, START, run, sha

BEST = "sweep.best_rows_per_s[work=mlp]"


def test_points_are_in_order_of_their_commits(where: str) -> None:
    """Whenever they were measured: a loop over old commits makes the same series as the commits did in their time."""
    with opened(where, create=True) as store:
        list(add(store, [run(number, float(number), when=START + 10**6 - number) for number in (3, 1, 2)]))
        found = series(store, BEST)

    assert [(one.commit, one.value, one.low, one.high) for one in found] == [
        (sha(number), number, number - 1, number + 2) for number in (1, 2, 3)]


def test_a_series_is_narrowed(where: str) -> None:
    """To a host, a branch, the newest, what came after a moment, and what is a result."""
    other = (Figure(BEST, 5.0, "rows/s", "higher", valid=False),)
    on_branch = Commit(sha(3), START + 3 * 3600, dirty=True, branch="topic")

    with opened(where, create=True) as store:
        list(add(store, [run(1, 1.0), run(2, 2.0), run(3, commit=on_branch, figures=other), run(4, 4.0, host=OTHER)]))

        assert [one.value for one in series(store, BEST, HOST.fingerprint)] == [1, 2, 5]
        assert [one.value for one in series(store, BEST, OTHER.fingerprint[:5])] == [4]
        assert [one.value for one in series(store, BEST, HOST.fingerprint, branch="main")] == [1, 2]
        assert [one.value for one in series(store, BEST, HOST.fingerprint, last=2)] == [2, 5]
        assert [one.value for one in series(store, BEST, HOST.fingerprint, since=START + 2 * 3600)] == [2, 5]
        assert [one.value for one in series(store, BEST, HOST.fingerprint, only_valid=True)] == [1, 2]
        (newest,) = series(store, BEST, HOST.fingerprint, last=1)
        assert (newest.dirty, newest.branch, newest.valid) == (True, "topic", False)
        assert series(store, "gone") == []


def test_series_are_found_by_pattern(where: str) -> None:
    """Only `*` is special: what SQL or a shell would treat so is a character like any other."""
    with opened(where, create=True) as store:
        list(add(store, [run(1)]))
        found = {pattern: [one.figure for one in all_series(store, figure=pattern)]
                 for pattern in ("sweep.*", "*", "%", "sweep_best*", "s\\*", BEST)}

    assert found == {"sweep.*": [BEST], "*": ["open.p99_ns[load=0.6]", BEST], BEST: [BEST],
                     "%": [], "sweep_best*": [], "s\\*": []}


def test_runs_are_selected(where: str) -> None:
    """By target, branch, host, kind and time; the newest of them, in order."""
    with opened(where, create=True) as store:
        list(add(store, [run(1), run(2, target="triton"), run(3, host=OTHER, kind="check"), run(4, commit=None)]))
        asked = {"all": Which(), "target": Which(target="triton"), "host": Which(host=OTHER.fingerprint[:4]),
                 "kind": Which(kind="check"), "branch": Which(branch="main"), "none": Which(target="x"),
                 "until": Which(until=START + 2 * 3600), "since": Which(since=START + 3 * 3600)}
        found = {name: numbers(store, which) for name, which in asked.items()}

        assert found == {"all": [1, 2, 3, 4], "target": [2], "host": [3], "kind": [3], "branch": [1, 2, 3], "none": [],
                         "until": [1], "since": [3, 4]}
        assert {name: counted(store, which) for name, which in asked.items()} == {k: len(v) for k, v in found.items()}
        assert [entry.id for entry in entries(store, last=2)] == [3, 4]
        assert points_of(store, all_series(store, target="triton")[0], last=1)[0].run == 2


def test_a_head_is_a_run_without_its_figures(where: str) -> None:
    """It says how many there are."""
    with opened(where, create=True) as store:
        list(add(store, [run(1), run(2, commit=None)]))
        first, second = heads(store)

    assert (first.figures, first.commit, first.host, first.branch) == (2, run(1).commit, HOST.fingerprint, "main")
    assert (second.commit, second.branch, second.facts()["commit"]) == (None, "", None)
