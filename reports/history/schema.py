"""The schema of a history: made by Alembic's migrations, which are part of the package, and never changed without asking."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from batchproof.reports.history.address import Address, need, parse
from batchproof.reports.history.failures import told
from batchproof.reports.history.run import HistoryError
from batchproof.reports.history.store import WAIT_S, engine_of, keep_a_log, look

if TYPE_CHECKING:
    from alembic.config import Config
    from sqlalchemy import Connection, Engine

MIGRATIONS = Path(__file__).with_name("migrations")
VERSION_TABLE = "alembic_version"
ONE_AT_A_TIME = 7_426_109  # PostgreSQL: an arbitrary number, the same for all who make or change a schema


def make(engine: Engine, address: Address) -> None:
    """Make the tables where there are none. Several may try at once, and a killed one leaves nothing half made."""
    with engine.connect() as connection:
        there = _tables(connection)
    if address.file is not None and (not there or VERSION_TABLE in there):
        keep_a_log(engine)
    if not there:
        with engine.execution_options(writes=True).begin() as connection:
            _alone(connection)
            if not _tables(connection):
                _migrate(connection)


@dataclass(frozen=True)
class Upgraded:
    """What an upgrade did. shown: the history. copy: the file as it was; None if nothing changed, or it is no file."""

    shown: str
    before: str
    after: str
    copy: Path | None


def upgraded(store: str) -> Upgraded:
    """Bring an older schema to this version's, as a whole or not at all. HistoryError if there is no history."""
    address = parse(store)
    look(address, create=False)
    engine = engine_of(address, writes=True, wait_s=WAIT_S)
    copy = None
    try:
        with told(address):
            with engine.connect() as connection:
                before = revision(connection) if VERSION_TABLE in _tables(connection) else ""
            if before in _known()[1:] and address.file is not None:
                copy = _copied(engine, address.file, before)
            elif before != newest():
                must_be_current(engine, address, older=True)
            with engine.execution_options(writes=True).begin() as connection:
                _alone(connection)
                _migrate(connection)
                return Upgraded(address.shown, before, revision(connection), copy)
    finally:
        engine.dispose()


def _copied(engine: Engine, file: Path, before: str) -> Path:
    """Copy an SQLite file as of one moment, even if others write to it meanwhile; return the copy."""
    copy = file.with_name(f"{file.name}.{before}")
    if copy.exists():
        raise HistoryError(f"{copy} is in the way: it is the copy that an upgrade makes; move it first")
    with engine.connect() as connection:
        raw: Any = connection.connection.driver_connection
        raw.execute("VACUUM INTO ?", (str(copy),))
    return copy


def must_be_current(engine: Engine, address: Address, *, older: bool = False) -> None:
    """Raise HistoryError unless the schema is this version's (or older, if that is allowed); it says what to do."""
    with engine.connect() as connection:
        there = _tables(connection)
        found = revision(connection) if VERSION_TABLE in there else ""
    if not found:
        what = "is empty" if not there else "holds other tables"
        raise HistoryError(f"{address.shown} is a database, but not a history: it {what}; name another --store")
    if found == newest() or (older and found in _known()):
        return
    if found in _known():
        raise HistoryError(
            f"{address.shown} has the older schema {found}, and this version of Batchproof needs {newest()}: "
            f"`batchproof history upgrade --store {address.shown}` brings it up to date"
        )
    raise HistoryError(
        f"{address.shown} has the schema {found}, which this version of Batchproof does not know: "
        "a newer version wrote it, so upgrade Batchproof, or name another --store"
    )


def revision(connection: Connection) -> str:
    """Return the revision of a history's schema; empty if there is none."""
    from sqlalchemy import String, column, select, table

    asked = select(column("version_num", String)).select_from(table(VERSION_TABLE))
    found = [str(row[0]) for row in connection.execute(asked)]
    return found[0] if len(found) == 1 else ""


@cache
def _scripts(folder: Path) -> tuple[str, ...]:
    """Return the revisions of a folder of migrations, the newest first."""
    from alembic.script import ScriptDirectory

    return tuple(script.revision for script in ScriptDirectory.from_config(_config(folder)).walk_revisions())


def newest() -> str:
    """Return the revision that this version of Batchproof reads and writes."""
    return _known()[0]


def _known() -> tuple[str, ...]:
    need("alembic")
    return _scripts(MIGRATIONS)


def _config(folder: Path) -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def _migrate(connection: Connection) -> None:
    from alembic import command

    need("alembic")
    config = _config(MIGRATIONS)
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _tables(connection: Connection) -> set[str]:
    from sqlalchemy import inspect

    return set(inspect(connection).get_table_names())


def _alone(connection: Connection) -> None:
    """Wait for others that make or change a schema. An SQLite has only one writer anyway."""
    from sqlalchemy import func, select

    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(ONE_AT_A_TIME)))
