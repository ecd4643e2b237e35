"""Runs of a history as sides of a comparison: what it keeps of them, and one message for what is not there."""

import pytest

from batchproof.reports.compare import NotComparable, compare
from batchproof.reports.compare.stored import as_stored, is_stored, stored
from batchproof.reports.history import HistoryError
from batchproof.reports.history.folders import NoFigures, run_of
from batchproof.suites.selftest import runs
from batchproof.suites.selftest.runs import HOST, best, p99

for _module in ("sqlalchemy", "alembic"):
    pytest.importorskip(_module, reason="the extra `history` is not installed")


@pytest.fixture
def history(tmp_path):
    """`history(*folders)`: the address of a history with the runs in these folders, in this order."""
    from batchproof.reports.history.store import opened
    from batchproof.reports.history.writing import add

    where = str(tmp_path / "history.sqlite")

    def make(*found):
        with opened(where, create=True) as store:
            for one in found:
                list(add(store, [run_of(one.where)]))
        return where

    return make


def test_a_stored_run_is_compared_as_the_folder_was(history, tmp_path):
    """With the same answer, and with what a history does not know among the notes."""
    folders = [runs.run_of(tmp_path / str(rate), best(rate), p99(5e6)) for rate in (400.0, 360.0)]
    where = history(*folders)

    base, new = stored("history:1", where), stored("history:2", where)
    found = compare(base, new)

    assert [row.change for row in found.rows] == [row.change for row in compare(folders[:1], folders[1:]).rows]
    assert found.notes == ("a history knows a machine by its hardware alone: kernel and Python may differ",)
    assert [run.target for run in stored("history:2,1", where)] == ["x 1", "x 1"]
    assert compare(base, as_stored(folders[1:])).change == "SLOWER"


def test_machines_and_forms_are_told_apart(history, tmp_path):
    """By the fingerprint that the history keeps, and by the words for the form."""
    where = history(
        runs.run_of(tmp_path / "a", best(400.0)),
        runs.run_of(tmp_path / "b", best(400.0), host=HOST | {"cpu": "B"}),
        runs.run_of(tmp_path / "c", best(400.0), quick=False),
    )

    with pytest.raises(NotComparable, match="hardware by its fingerprint"):
        compare(stored("history:1", where), stored("history:2", where))
    with pytest.raises(NotComparable, match="the form of their measurements"):
        compare(stored("history:1", where), stored("history:3", where))
    assert compare(stored("history:1", where), stored("history:2", where), correct=True).correction is not None


@pytest.mark.parametrize("word", [f"history:{words}" for words in ("", "x", "1,", "1;2", "-1", 5000 * "9")])
def test_a_word_that_names_no_run_is_refused(word):
    """The message shows one that does."""
    assert is_stored(word)
    with pytest.raises(HistoryError, match="such as history:12 or history:12,13,14"):
        stored(word, "nowhere")


def test_a_run_that_is_not_there_is_refused(history, tmp_path):
    """Whatever its number; and a folder without figures has nothing to compare."""
    where = history(runs.run_of(tmp_path / "a", best(400.0)))

    with pytest.raises(HistoryError, match=r"there is no run 7: `batchproof history list`"):
        stored("history:1,7", where)
    bare = runs.run_of(tmp_path / "bare", stick=runs.yardstick() | {"figures": []})
    with pytest.raises(NoFigures):
        as_stored([bare])
