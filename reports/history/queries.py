"""What a history is asked: which runs and series there are, one run whole, and the points of a series for a chart."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from batchproof.reports.figures import Better, Figure
from batchproof.reports.history import models
from batchproof.reports.history.run import Commit, Host, Run, moment
from batchproof.reports.history.store import Store

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Row, Select


@dataclass(frozen=True)
class Entry:
    """A run as it lies in the history, under its number."""

    id: int
    run: Run


@dataclass(frozen=True)
class Series:
    """One figure of one target, in one form, on one host. points: how many runs have it."""

    id: int
    figure: str
    unit: str
    better: Better
    target: str
    form: str
    host: str
    points: int = 0


@dataclass(frozen=True)
class Point:
    """One run's value of a figure. when: measured, in seconds since 1970; commit: its hash, or empty."""

    run: int
    commit: str
    dirty: bool
    branch: str
    when: int
    version: str
    value: float
    low: float | None
    high: float | None
    n: int
    valid: bool

    @property
    def time(self) -> str:
        """When it was measured, in UTC, ISO 8601."""
        return moment(self.when)


@dataclass(frozen=True)
class Which:
    """Which runs are meant; what is empty or None does not restrict. host: the beginning of a fingerprint."""

    target: str = ""
    branch: str = ""
    host: str = ""
    kind: str = ""
    since: int | None = None
    until: int | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        """Return what the database is asked; `runs` and `hosts` take part in the query."""
        runs, found = models.runs.c, []
        for column, wanted in ((runs.target, self.target), (runs.branch, self.branch), (runs.kind, self.kind)):
            if wanted:
                found.append(column == wanted)
        if self.host:
            found.append(models.hosts.c.fingerprint.startswith(self.host, autoescape=True))
        if self.since is not None:
            found.append(runs.at >= self.since)
        if self.until is not None:
            found.append(runs.at < self.until)
        return found


EVERY = Which()


@dataclass(frozen=True)
class Head:
    """A run without its figures. figures: how many there are."""

    id: int
    when: int
    kind: str
    origin: str
    target: str
    version: str
    form: str
    host: str
    commit: Commit | None
    figures: int

    @property
    def branch(self) -> str:
        """The branch of its commit; empty if there is none."""
        return self.commit.branch if self.commit else ""

    def facts(self) -> dict[str, Any]:
        """Return JSON data, without id and figures."""
        commit = self.commit
        return {
            "when": moment(self.when), "kind": self.kind, "origin": self.origin, "target": self.target,
            "version": self.version, "form": self.form, "host": self.host,
            "commit": commit.sha if commit else None, "dirty": commit.dirty if commit else None, "branch": self.branch,
        }  # fmt: skip


def heads(store: Store, which: Which = EVERY, last: int = 0) -> list[Head]:
    """Return runs without their figures, the oldest first. last: only so many, the newest."""
    from sqlalchemy import func, select

    runs, points = models.runs.c, models.points.c
    figures = select(func.count()).where(points.run_id == runs.id).scalar_subquery().label("figures")
    asked = select(models.runs, models.hosts.c.fingerprint, figures).join(models.hosts).where(*which.conditions())
    asked = asked.order_by(runs.at.desc(), runs.id.desc())
    with store.reading() as connection:
        rows = connection.execute(asked.limit(last) if last else asked).all()
    return [
        Head(row.id, row.measured, row.kind, row.origin, row.target, row.version, row.form, row.fingerprint,
             _commit(row), row.figures)
        for row in reversed(rows)
    ]  # fmt: skip


def entries(store: Store, which: Which = EVERY, last: int = 0, ids: Sequence[int] = ()) -> Iterator[Entry]:
    """Yield runs with their figures, the oldest first. last: only so many, the newest. ids: only these."""
    wanted = numbers(store, which, last, ids)
    for start in range(0, len(wanted), 200):
        yield from _whole(store, wanted[start : start + 200])


def counted(store: Store, which: Which = EVERY) -> int:
    """Return how many runs there are."""
    from sqlalchemy import func, select

    with store.reading() as connection:
        asked = select(func.count()).select_from(models.runs.join(models.hosts)).where(*which.conditions())
        return int(connection.execute(asked).scalar_one())


def numbers(store: Store, which: Which = EVERY, last: int = 0, ids: Sequence[int] = ()) -> list[int]:
    """Return the numbers of runs, the oldest first."""
    from sqlalchemy import select

    runs = models.runs.c
    asked = select(runs.id).select_from(models.runs.join(models.hosts)).where(*which.conditions())
    if ids:
        asked = asked.where(runs.id.in_(ids))
    asked = asked.order_by(runs.at.desc(), runs.id.desc())
    with store.reading() as connection:
        return list(connection.execute(asked.limit(last) if last else asked).scalars())[::-1]


def _whole(store: Store, ids: Sequence[int]) -> Iterator[Entry]:
    from sqlalchemy import select

    points, series, place = models.points.c, models.series.c, {number: at for at, number in enumerate(ids)}
    whole = select(models.runs, models.hosts.c.fingerprint, models.hosts.c.facts).join(models.hosts)
    columns = (points.value, series.unit, series.better, points.low, points.high, points.n, points.valid)
    figures = select(points.run_id, series.figure, *columns).join(models.series, points.series_id == series.id)
    figures = figures.where(points.run_id.in_(ids)).order_by(points.run_id, series.figure)
    with store.reading() as connection:
        found = connection.execute(whole.where(models.runs.c.id.in_(ids))).all()
        of_run: dict[int, list[Figure]] = {row.id: [] for row in found}
        for number, *facts in connection.execute(figures):
            of_run[number].append(Figure(*facts))
    for row in sorted(found, key=lambda one: place[one.id]):
        yield Entry(row.id, _run(row, tuple(of_run[row.id])))


def _run(row: Row[Any], figures: tuple[Figure, ...]) -> Run:
    host = Host({"fingerprint": row.fingerprint, **json.loads(row.facts)})
    about = json.loads(row.about)
    return Run(row.measured, row.kind, row.origin, row.target, row.version, row.form, host, figures, _commit(row), about)


def _commit(row: Row[Any]) -> Commit | None:
    return Commit(row.commit_sha, row.commit_at, bool(row.dirty), row.branch) if row.commit_sha else None


def all_series(
    store: Store, *, figure: str = "", target: str = "", host: str = "", form: str = "", count: bool = True
) -> list[Series]:
    """Return the series there are, in order of figure, target, form and host. figure: an id, or a pattern with `*`.

    count: count their points, which takes a while for millions; otherwise they are said to have none.
    """
    from sqlalchemy import func, literal, select

    table, points = models.series.c, models.points.c
    counted: Any = literal(0)
    if count:
        counted = select(func.count()).where(points.series_id == table.id).scalar_subquery()
    asked: Select[Any] = select(models.series, models.hosts.c.fingerprint, counted.label("points")).join(models.hosts)
    if figure:
        asked = asked.where(table.figure.like(_like(figure), escape="\\"))
    if target:
        asked = asked.where(table.target == target)
    if form:
        asked = asked.where(table.form == form)
    if host:
        asked = asked.where(models.hosts.c.fingerprint.startswith(host, autoescape=True))
    asked = asked.order_by(table.figure, table.target, table.form, models.hosts.c.fingerprint)
    with store.reading() as connection:
        return [
            Series(row.id, row.figure, row.unit, row.better, row.target, row.form, row.fingerprint, row.points)
            for row in connection.execute(asked)
        ]


def points_of(
    store: Store, series: Series, *, last: int = 0, branch: str = "", since: int | None = None, only_valid: bool = False
) -> list[Point]:
    """Return the points of a series in order of their commits, or of time where there are none. last: only the newest."""
    from sqlalchemy import select

    points, runs = models.points.c, models.runs.c
    asked = select(
        points.run_id, runs.commit_sha, runs.dirty, runs.branch, runs.measured, runs.version,
        points.value, points.low, points.high, points.n, points.valid,
    ).join(models.runs, points.run_id == runs.id).where(points.series_id == series.id)  # fmt: skip
    if branch:
        asked = asked.where(runs.branch == branch)
    if since is not None:
        asked = asked.where(points.at >= since)
    if only_valid:
        asked = asked.where(points.valid)
    asked = asked.order_by(points.at.desc(), points.run_id.desc())
    with store.reading() as connection:
        rows = connection.execute(asked.limit(last) if last else asked).all()
    return [Point(one[0], one[1] or "", bool(one[2]), *one[3:]) for one in reversed(rows)]


def series(store: Store, figure_id: str, host: str = "", **more: Any) -> list[Point]:
    """Return the points of the one series of this figure on this host; of the one with the most points if there are more.

    host: the beginning of a fingerprint; empty: any. more: as for `points_of`.
    """
    found = all_series(store, figure=figure_id, host=host)
    return points_of(store, max(found, key=lambda one: one.points), **more) if found else []


def _like(pattern: str) -> str:
    """Return a pattern with `*` as SQL has it; nothing else in it is special."""
    for special in "\\%_":
        pattern = pattern.replace(special, f"\\{special}")
    return pattern.replace("*", "%")
