"""Addresses under test: what may be named, and that no message repeats a password."""

from __future__ import annotations

from pathlib import Path

import pytest

from batchproof.reports.history import HistoryError, parse


@pytest.mark.parametrize(
    ("store", "shown", "file"),
    [
        ("reports/x.sqlite", "reports/x.sqlite", Path("reports/x.sqlite")),
        ("sqlite:///x.db", "x.db", Path("x.db")),
        ("sqlite:////tmp/x.db", "/tmp/x.db", Path("/tmp/x.db")),  # noqa: S108
        ("postgresql://me:hush@host:5433/runs", "postgresql://host:5433/runs", None),
        ("postgres://host/runs", "postgresql://host/runs", None),
        ("postgresql+psycopg://me:hu%40sh@host/runs?sslmode=require", "postgresql://host/runs", None),
        ("postgresql:///runs?host=/run/pg&password=hush", "postgresql:///run/pg/runs", None),
    ],
)
def test_an_address_is_shown_without_credentials(store: str, shown: str, file: Path | None) -> None:
    """A path is a file of SQLite, and an URL a server."""
    found = parse(store)

    assert (found.shown, found.file) == (shown, file)


@pytest.mark.parametrize(
    ("store", "words"),
    [
        ("", "it is empty"),
        ("mysql://me:hush@host/x", "mysql is not a kind of database"),
        ("my sql://me:hush@host/x", "that is not a kind of database"),
        ("postgresql://me:hush@host:port/x", "it cannot be read"),
        ("postgresql://me:hush@[host/x", "it cannot be read"),
        ("postgresql://me:hu@sh@host/x", "it cannot be read"),
        ("postgresql://me:hush@host", "it names no database"),
        ("sqlite://", "no path"),
    ],
)
def test_what_cannot_be_an_address_is_refused(store: str, words: str) -> None:
    """The message says what it may be, and does not repeat what may hold a password."""
    with pytest.raises(HistoryError) as caught:
        parse(store)

    assert str(caught.value).startswith(f"--store: {words}")
    assert not any(part in str(caught.value) for part in ("hush", "hu@", "sh@"))
    assert "hush" not in str(caught.value)
    assert "postgresql://host/database" in str(caught.value)


def test_what_a_driver_repeats_is_blotted_out() -> None:
    """The password is known in the form in which a driver gets it."""
    assert parse("postgresql://me:hu%40sh@host/runs").clean("no entry for me with hu@sh") == "no entry for me with ***"


def test_a_missing_module_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without SQLAlchemy there is no history, and the message says what to install."""
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)

    with pytest.raises(HistoryError, match=r"needs the module 'sqlalchemy': pip install 'batchproof\[history\]'"):
        parse("x.sqlite")
