"""A history, opened: its connections and transactions."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from batchproof.reports.history.address import Address, parse
from batchproof.reports.history.failures import told
from batchproof.reports.history.run import HistoryError, HistoryUnavailable

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

WAIT_S = 30.0  # for another writer; each holds the file for some milliseconds
CONNECT_S = 10
OURS = {"hosts", "runs", "series", "points", "alembic_version"}


@dataclass(frozen=True)
class Store:
    """A history that can be read, and written too unless it was opened for reading. Close it."""

    address: Address
    engine: Engine
    identity: tuple[int, int] | None  # of the file

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yield a connection that sees one state of the history. What fails is a HistoryError."""
        with told(self.address), self.engine.connect() as connection:
            yield connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[Connection]:
        """Yield a connection in a transaction, which is kept as a whole or not at all. What fails is a HistoryError."""
        self._must_be_there()
        with told(self.address), self.engine.execution_options(writes=True).begin() as connection:
            yield connection
        self._must_be_there()

    def _must_be_there(self) -> None:
        """What is written into a file that nobody will find again is lost."""
        if _identity(self.address.file) != self.identity:
            raise HistoryUnavailable(
                f"{self.address.shown}: the file was moved, removed or replaced while it was in use, "
                "and what was written since may be in the old one: run the command again"
            )

    def close(self) -> None:
        """Give the connections back."""
        self.engine.dispose()


@contextlib.contextmanager
def opened(store: str, *, create: bool = False, write: bool | None = None, wait_s: float = WAIT_S) -> Iterator[Store]:
    """Open the history that `--store` names. HistoryError says what is wrong and what to do.

    create: make it if it is not there (and write to it). write: whether it will be written to; as `create` says if None.
    """
    from batchproof.reports.history.schema import make, must_be_current

    address = parse(store)
    writes = create if write is None else write
    look(address, create=create)
    engine = engine_of(address, writes=writes, wait_s=wait_s)
    found = Store(address, engine, _identity(address.file))
    try:
        with told(address):
            if create:
                make(engine, address)
            must_be_current(engine, address)
        yield found
    finally:
        found.close()


def look(address: Address, *, create: bool) -> None:
    """Refuse a file that cannot be what is wanted, before a driver makes one."""
    file = address.file
    if file is None:
        return
    if file.is_dir():
        raise HistoryError(f"{file} is a folder: name a file, such as {file / 'history.sqlite'}")
    if file.exists() and not file.is_file():  # a pipe would be waited for
        raise HistoryError(f"{file} is a pipe or a device, which cannot hold a history: name a file")
    if create:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.open("ab").close()  # an empty file is an empty database
        except OSError as error:
            raise HistoryUnavailable(f"{file} cannot be written: {error.strerror}; name another --store") from None
    elif not file.exists():
        raise HistoryError(f"there is no history at {file}: `batchproof history add FOLDER` makes one")


def engine_of(address: Address, *, writes: bool, wait_s: float) -> Engine:
    """Return what connects to an address. wait_s: for another writer."""
    from sqlalchemy import create_engine, event
    from sqlalchemy.pool import NullPool

    if address.file is None:
        wait = f"-c lock_timeout={round(wait_s * 1e3)}"
        return create_engine(address.url, poolclass=NullPool, connect_args={"connect_timeout": CONNECT_S, "options": wait})

    engine = create_engine(_sqlite(address.file, writes=writes), poolclass=NullPool, connect_args={"timeout": wait_s})

    @event.listens_for(engine, "connect")
    def _settings(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # transactions begin where we say, and tables are made inside them
        for one in ("foreign_keys=ON", "trusted_schema=OFF", "synchronous=FULL"):
            connection.execute(f"PRAGMA {one}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get("writes") else "BEGIN")

    return engine


def _sqlite(file: Path, *, writes: bool) -> str:
    """Return the address for the driver. What nobody can change, for instance on a read-only disk, is read as it is."""
    from urllib.parse import quote

    place = quote(str(file.absolute()))
    if writes:
        return f"sqlite+pysqlite:///file:{place}?mode=rw&uri=true"
    log = file.with_name(f"{file.name}-wal")
    alone = not os.access(file.parent, os.W_OK) and not log.exists()
    return f"sqlite+pysqlite:///file:{place}?mode=ro&uri=true" + ("&immutable=1" if alone else "")


def keep_a_log(engine: Engine) -> None:
    """Let readers and one writer of an SQLite go on side by side (WAL); the file remembers it. Where it cannot, so be it."""
    from sqlalchemy.exc import OperationalError

    for _ in range(100):
        try:
            with engine.connect() as connection:
                raw = connection.connection.driver_connection
                if raw is not None and raw.execute("PRAGMA journal_mode").fetchone() != ("wal",):
                    raw.execute("PRAGMA journal_mode=WAL")
        except OperationalError:
            raise
        except Exception as error:  # another one is doing it
            if "locked" not in str(error):
                raise
            time.sleep(0.05)
        else:
            return


def _identity(file: Path | None) -> tuple[int, int] | None:
    if file is None:
        return None
    with contextlib.suppress(OSError):
        found = file.stat()
        return found.st_dev, found.st_ino
    return None
