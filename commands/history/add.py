"""`batchproof history add`: the runs in report folders, with the commit that they measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from batchproof.commands.history.options import Measured, described, ends, with_commit
from batchproof.exit_status import ExitStatus, refuse
from batchproof.reports.history import Run
from batchproof.reports.history.folders import NoFigures, run_of
from batchproof.reports.wording import line


@ends
def add_folders(folders: Sequence[Path], store: str, measured: Measured) -> ExitStatus:
    """Add the run in each folder. All of them are read before the first is added."""
    commit = measured.commit()
    runs: list[Run] = []
    empty: list[str] = []
    for folder in folders:
        try:
            runs.append(with_commit(run_of(folder), commit, named=bool(measured.name)))
        except NoFigures as why:
            empty.append(line(why))
    if runs:
        keep(runs, store)
    for text in empty:
        refuse(text)
    return ExitStatus.NOTHING if empty else ExitStatus.FINE


def keep(runs: Iterable[Run], store: str) -> int:
    """Add runs and say what became of each; return how many are new. HistoryError as `writing.add`."""
    from batchproof.reports.history.queries import entries
    from batchproof.reports.history.store import opened
    from batchproof.reports.history.writing import add

    waiting, new = list(runs), 0
    with opened(store, create=True) as history:
        for run, added in zip(waiting, add(history, waiting), strict=True):
            there = run if added.new else next(entries(history, ids=(added.id,))).run
            print(f"{'added' if added.new else 'there already'}: run {added.id}, {line(described(there))}")
            new += added.new
    return new
