"""Runs into a history, and out of it. Each transaction is short, whole or not at all, and adding twice adds once."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from batchproof.reports.history import models
from batchproof.reports.history.run import Run
from batchproof.reports.history.store import Store

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table

TOGETHER = 100  # runs in one transaction
Name = tuple[str, str, str]  # figure, unit, better
CHUNK = 400  # numbers in one statement


@dataclass(frozen=True)
class Added:
    """What became of a run. id: its number in the history. new: False if it was there before."""

    id: int
    new: bool


def add(store: Store, runs: Iterable[Run]) -> Iterator[Added]:
    """Add runs, a hundred in a transaction; yield what became of each once it is safe. HistoryError if that fails."""
    waiting = iter(runs)
    while some := list(islice(waiting, TOGETHER)):
        with store.writing() as connection:
            known = _Known()
            found = [_add(connection, run, known) for run in some]
        yield from found


def prune(store: Store, ids: Sequence[int]) -> int:
    """Remove the runs of these numbers; return how many there were. Series and hosts that lose their last run go, too."""
    from sqlalchemy import delete, exists, select

    gone = 0
    for start in range(0, len(ids), CHUNK):
        some = ids[start : start + CHUNK]
        with store.writing() as connection:
            connection.execute(delete(models.points).where(models.points.c.run_id.in_(some)))
            gone += connection.execute(delete(models.runs).where(models.runs.c.id.in_(some))).rowcount
    with store.writing() as connection:
        used = exists(select(models.points.c.run_id).where(models.points.c.series_id == models.series.c.id))
        connection.execute(delete(models.series).where(~used))
        used = exists(select(models.runs.c.id).where(models.runs.c.host_id == models.hosts.c.id))
        connection.execute(delete(models.hosts).where(~used))
    return gone


@dataclass
class _Known:
    """The numbers of hosts and series that this transaction has seen."""

    hosts: dict[str, int] = field(default_factory=dict)
    series: dict[tuple[str, str, int], dict[Name, int]] = field(default_factory=dict)


def _add(connection: Connection, run: Run, known: _Known) -> Added:
    from sqlalchemy import insert, select

    table = models.runs
    there = select(table.c.id).where(table.c.key == run.key)
    if (found := connection.execute(there).scalar()) is not None:
        return Added(int(found), new=False)
    host = _host(connection, run, known.hosts)
    commit = run.commit
    row = {
        "key": run.key, "at": run.at, "measured": run.when, "added": int(time.time()), "kind": run.kind,
        "origin": run.origin, "target": run.target, "version": run.version, "form": run.form, "host_id": host,
        "commit_sha": commit.sha if commit else None, "commit_at": commit.at if commit else None,
        "dirty": commit.dirty if commit else None, "branch": commit.branch if commit else "",
        "about": json.dumps(dict(run.about)),
    }  # fmt: skip
    if not _insert_new(connection, table, [row]):
        return Added(int(connection.execute(there).scalar_one()), new=False)  # another process was quicker
    number = int(connection.execute(there).scalar_one())
    series = _series(connection, run, host, known.series.setdefault((run.target, run.form, host), {}))
    connection.execute(
        insert(models.points),
        [
            {"series_id": series[figure.id, figure.unit, figure.better], "at": run.at, "run_id": number,
             "value": figure.value, "low": figure.low, "high": figure.high, "n": figure.n, "valid": bool(figure.valid)}
            for figure in run.figures
        ],
    )  # fmt: skip
    return Added(number, new=True)


def _host(connection: Connection, run: Run, known: dict[str, int]) -> int:
    from sqlalchemy import select

    fingerprint = run.host.fingerprint
    if fingerprint not in known:
        facts = json.dumps(dict(run.host.facts), default=str)
        _insert_new(connection, models.hosts, [{"fingerprint": fingerprint, "facts": facts}])
        asked = select(models.hosts.c.id).where(models.hosts.c.fingerprint == fingerprint)
        known[fingerprint] = int(connection.execute(asked).scalar_one())
    return known[fingerprint]


def _series(connection: Connection, run: Run, host: int, known: dict[Name, int]) -> dict[Name, int]:
    """Return the number of each figure's series, which `known` then has; those that are new are made."""
    from sqlalchemy import select

    table = models.series
    wanted = {(figure.id, figure.unit, figure.better) for figure in run.figures}
    asked = select(table.c.figure, table.c.unit, table.c.better, table.c.id).where(
        table.c.host_id == host, table.c.target == run.target, table.c.form == run.form
    )
    for make in (False, True):
        if make and (lacking := sorted(wanted - known.keys())):
            of_all = {"target": run.target, "form": run.form, "host_id": host}
            rows = [{"figure": figure, "unit": unit, "better": better, **of_all} for figure, unit, better in lacking]
            _insert_new(connection, table, rows)
        if wanted - known.keys():
            known.update({(row.figure, row.unit, row.better): int(row.id) for row in connection.execute(asked)})
    return known


def _insert_new(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> int:
    """Insert rows unless they are there, even if others insert them now; return how many a single row made, 0 or 1."""
    given = rows[0] if len(rows) == 1 else rows  # a statement with one row is compiled once
    if connection.dialect.name == "postgresql":
        from sqlalchemy.dialects.postgresql import insert as postgresql

        return connection.execute(postgresql(table).values(given).on_conflict_do_nothing()).rowcount
    from sqlalchemy.dialects.sqlite import insert as sqlite

    return connection.execute(sqlite(table).values(given).on_conflict_do_nothing()).rowcount
