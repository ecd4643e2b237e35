"""Histories for the tests: in a file, and in a PostgreSQL that they start themselves."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import pytest

from batchproof.suites.selftest.postgres import NoPostgres, Server, server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_numbers = count(1)
for _module in ("sqlalchemy", "alembic"):
    pytest.importorskip(_module, reason="the extra `history` is not installed")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server, one for each worker."""
    pytest.importorskip("psycopg", reason="the extra `postgresql` is not installed")
    try:
        running = server()
        found = running.__enter__()
    except NoPostgres as why:
        pytest.skip(str(why))
    yield found
    running.__exit__(None, None, None)


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a history that is not there yet: a file, and an empty database."""
    if request.param == "sqlite":
        return str(tmp_path / "history.sqlite")
    found: Server = request.getfixturevalue("postgres")
    return found.database(f"history{next(_numbers)}")
