"""Where a history is: a file of SQLite, or a PostgreSQL. Everything that is said of it is said without its credentials."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from batchproof.reports.history.run import HistoryError

if TYPE_CHECKING:
    from sqlalchemy import URL

DEFAULT = "reports/history.sqlite"
SQLITE, POSTGRESQL = "sqlite", "postgresql"
SCHEMES = {"postgresql": POSTGRESQL, "postgres": POSTGRESQL, "postgresql+psycopg": POSTGRESQL, "sqlite": SQLITE}
UNREADABLE = "it cannot be read; in a password, write %40 for @, %2F for / and %3A for :"
_PLACE = re.compile(r"[A-Za-z0-9._:-]*")
FORMS = "a path, or postgresql://host/database"


@dataclass(frozen=True)
class Address:
    """url: with the credentials. shown: how messages call it. file: of an SQLite. secrets: what no text may have."""

    url: URL
    shown: str
    file: Path | None
    secrets: tuple[str, ...]

    def clean(self, text: object) -> str:
        """Return a text of a driver without what it repeats of the credentials."""
        shown = str(text)
        for secret in self.secrets:
            shown = shown.replace(secret, "***")
        return shown


def parse(store: str) -> Address:
    """Return the address that `--store` names; HistoryError says what it may be."""
    need("sqlalchemy")
    scheme, separator, rest = store.partition("://")
    if not separator:
        return _of_file(Path(store)) if store else _refused("it is empty")
    match SCHEMES.get(scheme):
        case "sqlite":
            return _of_file(Path(rest.removeprefix("/"))) if rest.startswith("/") and len(rest) > 1 else _refused("no path")
        case "postgresql":
            need("psycopg", "postgresql")
            return _of_server(rest)
    return _refused(f"{scheme if scheme.isidentifier() else 'that'} is not a kind of database that can hold a history")


def need(module: str, extra: str = "history") -> None:
    """Raise HistoryError if an optional module is not installed."""
    from importlib.util import find_spec

    if find_spec(module) is None:
        raise HistoryError(f"a history needs the module '{module}': pip install 'batchproof[{extra}]'")


def _of_file(path: Path) -> Address:
    from sqlalchemy import URL

    return Address(URL.create("sqlite+pysqlite", database=str(path)), str(path), path, ())


def _of_server(rest: str) -> Address:
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        url = make_url(f"postgresql+psycopg://{rest}")
    except (ArgumentError, ValueError):
        return _refused(UNREADABLE)
    if not url.database:
        return _refused("it names no database")
    if not _PLACE.fullmatch(url.host or "") or "@" in url.database:  # a part of a password, most likely
        return _refused(UNREADABLE)
    place = url.host or str(url.query.get("host", "local"))
    shown = f"postgresql://{place}{f':{url.port}' if url.port else ''}/{url.database}"
    given = (url.password, *(value for key, value in url.query.items() if "password" in key))
    secrets = {str(secret) for secret in given if secret}
    return Address(url, shown, None, tuple(sorted(secrets, key=len, reverse=True)))


def _refused(why: str) -> Address:
    raise HistoryError(f"--store: {why}; it is {FORMS}")
