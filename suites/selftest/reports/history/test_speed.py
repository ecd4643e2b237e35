"""The measurement of a large history under test, on a small one: what it makes is a history like any other."""

from __future__ import annotations

import pytest

from batchproof.reports.history import HistoryError
from batchproof.reports.history.queries import all_series, counted, entries, points_of
from batchproof.reports.history.speed import measured, print_table
from batchproof.reports.history.store import opened


def test_what_is_made_is_a_history(where: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each run has its figures, in order; every query returns what it should."""
    print_table(where, 30, 3)
    with opened(where) as store:
        (first, *_) = all_series(store)
        assert (counted(store), len(points_of(store, first)), len(next(entries(store)).run.figures)) == (30, 30, 3)
        assert [one.rows for one in measured(store)] == [30, 30, 3, 20, 1, 1]

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("30 runs of 3 figures, made in ")
    assert len(lines) == 7


def test_a_history_with_runs_is_left_alone(where: str) -> None:
    """Made-up runs have no place among measured ones."""
    print_table(where, 10, 1)

    with pytest.raises(HistoryError, match="has runs: name a --store that is empty"):
        print_table(where, 10, 1)
