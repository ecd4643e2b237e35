"""`batchproof history export`: runs as lines of JSON, or their figures as a table for other programs."""

from __future__ import annotations

import contextlib
import csv
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from batchproof.commands.history.options import ends
from batchproof.commands.output import whole
from batchproof.exit_status import ExitStatus
from batchproof.reports.formats.history import written
from batchproof.reports.history import HistoryUnavailable, Run
from batchproof.reports.history.run import moment

COLUMNS = ("run", "measured", "commit", "committed", "dirty", "branch", "kind", "origin", "target", "version", "form",
           "host", "figure", "value", "unit", "better", "low", "high", "n", "valid")  # fmt: skip
FORMULAS = ("=", "+", "-", "@")  # how a text begins that a spreadsheet may take for a formula


@ends
def export_runs(store: str, out: Path | None, *, as_csv: bool, target: str, branch: str, host: str) -> ExitStatus:
    """Write runs, the oldest first."""
    from batchproof.reports.history.queries import Which, entries
    from batchproof.reports.history.store import opened

    with opened(store) as history, _destination(out) as file:
        runs = ((entry.id, entry.run) for entry in entries(history, Which(target=target, branch=branch, host=host)))
        if as_csv:
            table = csv.writer(file)
            table.writerow(COLUMNS)
            table.writerows(_rows(runs))
        else:
            file.writelines(written(runs))
    return ExitStatus.FINE


@contextlib.contextmanager
def _destination(out: Path | None) -> Iterator[TextIO]:
    """Yield standard output or the file, which appears under its name only when it is whole."""
    if out is None:
        yield sys.stdout
        return
    try:
        with whole(out) as file:
            yield file
    except OSError as error:
        raise HistoryUnavailable(f"{out} cannot be written: {error.strerror}; name another --out") from None


def _rows(runs: Iterable[tuple[int, Run]]) -> Iterator[tuple[object, ...]]:
    for number, run in runs:
        commit = run.commit
        of_commit = (commit.sha, moment(commit.at), commit.dirty, commit.branch) if commit else ("", "", "", "")
        of_run = (number, moment(run.when), *of_commit, run.kind, run.origin, run.target, run.version, run.form)
        for one in run.figures:
            value = (one.id, one.value, one.unit, one.better, one.low, one.high, one.n, one.valid)
            yield tuple(map(_harmless, (*of_run, run.host.fingerprint, *value)))


def _harmless(cell: object) -> object:
    """Return the cell. A text that a spreadsheet might run, which others may have named, is quoted with an apostrophe."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULAS) else cell
