"""Runs of a history as sides of a comparison.

A history knows a machine by its hardware, and keeps the form of a measurement in words. So if one side comes from a history,
folders are seen through the same eyes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from batchproof.reports.history import HistoryError
from batchproof.reports.history.folders import run_of
from batchproof.reports.history.run import moment
from batchproof.reports.measured import Measured

if TYPE_CHECKING:
    from batchproof.reports.history.run import Run

WORD = re.compile(r"history:(\d{1,18}(?:,\d{1,18})*)", re.ASCII)


def is_stored(word: str) -> bool:
    """Whether a word names runs of a history: `history:12`, or `history:12,13,14`."""
    return word.startswith("history:")


def stored(word: str, store: str) -> list[Measured]:
    """Return the runs that a word names; HistoryError if there are none of these numbers, or as in `store.opened`."""
    from batchproof.reports.history.queries import entries
    from batchproof.reports.history.store import opened

    named = WORD.fullmatch(word)
    if named is None:
        raise HistoryError(f"{word[:80]}: give the numbers of runs, such as history:12 or history:12,13,14")
    wanted = list(dict.fromkeys(int(number) for number in named[1].split(",")))
    with opened(store) as history:
        found = {one.id: one.run for one in entries(history, ids=wanted)}
    if gone := [number for number in wanted if number not in found]:
        raise HistoryError(f"there is no run {gone[0]}: `batchproof history list` shows which there are")
    return [_seen(found[number], Path(f"history:{number}")) for number in wanted]


def as_stored(runs: Sequence[Measured]) -> list[Measured]:
    """Return runs of folders as a history would see them; NoFigures if one has none."""
    return [_seen(run_of(run.where), run.where, run.missing) for run in runs]


def _seen(run: Run, where: Path, missing: tuple[str, ...] = ()) -> Measured:
    header = {
        "target": {"name": run.target, "version": run.version, "sight": ""},
        "host": {"fingerprint": run.host.fingerprint},
        "started": moment(run.when),
        "form": run.form,
    }
    return Measured(where, header, run.figures, "truncated" in run.about, missing)
