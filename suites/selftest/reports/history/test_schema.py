"""The schema under test: the migrations make the tables of the models, and an older or newer one says what to do."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from batchproof.reports.history import HistoryError, schema
from batchproof.reports.history.models import METADATA
from batchproof.reports.history.queries import counted
from batchproof.reports.history.store import opened
from batchproof.reports.history.writing import add
from batchproof.suites.selftest.reports.history.samples import run

if TYPE_CHECKING:
    from collections.abc import Iterator

NEXT = '''"""One more table.

Revision ID: 0099
"""

import sqlalchemy as sa
from alembic import op

revision = "0099"
down_revision = "{before}"


def upgrade() -> None:
    op.create_table("more", sa.Column("id", sa.Integer(), primary_key=True))
    {then}
'''


@pytest.fixture
def later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A later version of Batchproof, which has one more migration; its file."""
    folder = tmp_path / "migrations"
    shutil.copytree(schema.MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    more = folder / "versions" / "revision_0099.py"
    more.write_text(NEXT.format(before=schema.newest(), then=""))
    now = schema.MIGRATIONS
    yield more
    monkeypatch.setattr(schema, "MIGRATIONS", now)


def become(monkeypatch: pytest.MonkeyPatch, more: Path) -> None:
    """From now on, this is the later version."""
    monkeypatch.setattr(schema, "MIGRATIONS", more.parents[1])


def test_the_migrations_make_the_models(where: str) -> None:
    """Alembic finds nothing that it would have to change."""
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    with opened(where, create=True) as store, store.reading() as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []


def test_a_chart_reads_one_stretch_of_the_file(tmp_path: Path) -> None:
    """In SQLite, the points lie in the order of their series, and no other index is used to find them."""
    with opened(str(tmp_path / "x"), create=True) as store, store.reading() as connection:
        asked = "EXPLAIN QUERY PLAN SELECT value FROM points WHERE series_id = 1 ORDER BY at DESC, run_id DESC LIMIT 9"
        plan = [row[3] for row in connection.exec_driver_sql(asked)]

    assert plan == ["SEARCH points USING PRIMARY KEY (series_id=?)"]


def test_an_older_schema_is_upgraded_when_it_is_told_to(
    where: str, later: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading and writing refuse and name the command. It keeps what was there, and a copy of a file."""
    with opened(where, create=True) as store:
        list(add(store, [run(1)]))
    before = schema.newest()
    become(monkeypatch, later)

    for create in (False, True):
        with pytest.raises(HistoryError, match=f"has the older schema {before}, and this version of Batchproof needs 0099: "
                           "`batchproof history upgrade --store "), opened(where, create=create):
            pass
    done, again = schema.upgraded(where), schema.upgraded(where)

    with opened(where) as store:
        assert counted(store) == 1
    assert (done.before, done.after, again.before, again.after, again.copy) == (before, "0099", "0099", "0099", None)
    if "://" in where:
        assert done.copy is None
    else:
        assert done.copy == Path(f"{where}.{before}")
        assert sqlite3.connect(done.copy).execute("SELECT count(*) FROM runs").fetchone() == (1,)


def test_an_upgrade_that_fails_changes_nothing(where: str, later: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table that its first half made is gone with it."""
    with opened(where, create=True) as store:
        list(add(store, [run(1)]))
    later.write_text(later.read_text().replace('    \n', '    op.execute("SELECT * FROM nowhere")\n'))
    monkeypatch.setattr(schema, "MIGRATIONS", later.parents[1])
    with pytest.raises(HistoryError, match="nowhere"):
        schema.upgraded(where)
    monkeypatch.undo()

    with opened(where) as store:
        assert counted(store) == 1


def test_a_newer_schema_says_what_to_do(where: str, later: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For those who read it, write to it or would upgrade it."""
    here = schema.MIGRATIONS
    become(monkeypatch, later)
    with opened(where, create=True):
        pass
    monkeypatch.setattr(schema, "MIGRATIONS", here)
    said = "has the schema 0099, which this version of Batchproof does not know: a newer version wrote it, so upgrade"

    for create in (False, True):
        with pytest.raises(HistoryError, match=said), opened(where, create=create):
            pass
    with pytest.raises(HistoryError, match=said):
        schema.upgraded(where)


def test_a_copy_is_not_overwritten(tmp_path: Path, later: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies where the copy would go may be all that somebody has."""
    where = tmp_path / "x.sqlite"
    with opened(str(where), create=True):
        pass
    Path(f"{where}.{schema.newest()}").write_text("precious")
    become(monkeypatch, later)

    with pytest.raises(HistoryError, match="is in the way"):
        schema.upgraded(str(where))
