"""Writing under test, in a file and in a PostgreSQL: what comes back is what was given, and nothing is lost or doubled."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
from itertools import islice

import pytest

from batchproof.reports.figures import Figure
from batchproof.reports.history.queries import all_series, counted, entries, numbers, points_of
from batchproof.reports.history.store import opened
from batchproof.reports.history.writing import add, prune
from batchproof.suites.selftest.reports.history.samples import EACH, OTHER, run, write

WRITERS = 4


def test_a_run_comes_back_as_it_was(where: str) -> None:
    """Every field and every figure, with and without a commit, and the fingerprint of the host."""
    given = [run(1), run(2, commit=None, target="a \U0001f41d"), run(3, host=OTHER)]

    with opened(where, create=True) as store:
        added = list(add(store, given))
    with opened(where) as store:
        found = {entry.id: entry.run for entry in entries(store)}

    assert [one.new for one in added] == [True] * 3
    for one, run_given in zip(added, given, strict=True):
        back = found[one.id]
        assert (back.key, back.commit, back.about) == (run_given.key, run_given.commit, run_given.about)
        assert back.figures == tuple(sorted(run_given.figures, key=lambda figure: figure.id))
        assert {**run_given.host.facts, "fingerprint": run_given.host.fingerprint} == back.host.facts


def test_adding_twice_adds_once(where: str) -> None:
    """In one call and in two, and whatever the commit."""
    with opened(where, create=True) as store:
        first = list(add(store, [run(1), run(1), run(2)]))
        second = list(add(store, [run(1, commit=None), run(3)]))
        there = counted(store)

    assert [one.new for one in (*first, *second)] == [True, False, True, False, True]
    assert first[0].id == first[1].id == second[0].id
    assert there == 3


def test_one_series_for_what_can_be_compared(where: str) -> None:
    """Another host, target, form or unit is another series; another commit, version or branch is not."""
    figure = Figure("a", 1.0, "ns", "lower")
    same = [run(number, figures=(figure,), version=str(number)) for number in range(3)]
    others = [run(9, figures=(figure,), host=OTHER), run(9, figures=(figure,), target="triton"),
              run(9, figures=(figure,), form="bench full"), run(9, figures=(Figure("a", 1.0, "ms", "lower"),))]

    with opened(where, create=True) as store:
        list(add(store, [*same, *others]))
        found = [len(points_of(store, one)) for one in all_series(store)]

    assert sorted(found) == [1, 1, 1, 1, 3]


def test_prune_takes_all_of_a_run(where: str) -> None:
    """Its points go with it, and a series and a host without runs too. Numbers of SQLite are not given again."""
    with opened(where, create=True) as store:
        list(add(store, [run(1), run(2), run(3, host=OTHER)]))
        gone = prune(store, numbers(store)[1:])
        (left,) = entries(store)
        series = [(len(points_of(store, one)), one.host) for one in all_series(store)]
        (again,) = add(store, [run(4)])

    assert (gone, left.run.key, again.id > 3) == (2, run(1).key, True)
    assert series == [(1, run(1).host.fingerprint)] * 2


def test_concurrent_writers_lose_nothing(where: str) -> None:
    """Several processes make the history together, and add runs of their own and one that all of them add."""
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write, args=(where, 1000 * number)) for number in range(WRITERS)]
    for one in writers:
        one.start()
    for one in writers:
        one.join(90)

    with opened(where) as store:
        found = list(entries(store))

    assert [one.exitcode for one in writers] == [0] * WRITERS
    assert len(found) == len({entry.run.key for entry in found}) == WRITERS * EACH + 1
    assert {len(entry.run.figures) for entry in found} == {2}


ENDLESS = """
import sys
from itertools import count
from batchproof.reports.history.store import opened
from batchproof.reports.history.writing import add
from batchproof.suites.selftest.reports.history.samples import run
with opened(sys.argv[1], create=True) as store:
    for number in count(int(sys.argv[2])):
        (added,) = add(store, [run(number)])
        print(number, flush=True)
"""


@pytest.mark.parametrize("after", [0, 1, 7, 30])
def test_a_killed_writer_leaves_a_history_that_opens(where: str, after: int) -> None:
    """Killed in the middle of its writing: what it had said to be safe is there, each run is whole, and writing goes on."""
    command = [sys.executable, "-c", ENDLESS, where, str(1000 * after)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        safe = list(islice(writer.stdout, after + 1))
        os.kill(writer.pid, signal.SIGKILL)

    with opened(where, create=True, wait_s=20) as store:
        found = list(entries(store))
        (more,) = add(store, [run(999_999)])

    assert (len(found) >= len(safe), {len(entry.run.figures) for entry in found}, more.new) == (True, {2}, True)
    assert {entry.run.commit.sha for entry in found} >= {f"{int(number):040x}" for number in safe}
    if "://" not in where:
        assert sqlite3.connect(where).execute("PRAGMA integrity_check").fetchone() == ("ok",)
