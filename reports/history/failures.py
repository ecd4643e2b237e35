"""Every way in which a database fails, in one sentence that says what to do."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from batchproof.reports.history.address import Address
from batchproof.reports.history.run import HistoryUnavailable
from batchproof.reports.wording import line

HELD = "another process has held it for too long; wait for that one, or end it, and run this again"
READ_ONLY = "it cannot be written to: make the file and its folder writable, or name another --store"
NO_ROOM = "and what was not finished was not kept; make room and run this again"
GONE = "{said}; what was not finished was not kept, so run this again when it answers"
REASONS = (  # what a driver says, and what that means; the first that fits
    ("database is locked", HELD),
    ("lock timeout", HELD),
    ("readonly database", READ_ONLY),
    ("read-only", READ_ONLY),
    ("is full", f"the disk is full, {NO_ROOM}"),
    ("no space left", f"the disk is full, {NO_ROOM}"),
    ("disk I/O error", f"the disk fails or is full, {NO_ROOM}"),
    ("not a database", "this is not a history, but some other file; name another --store"),
    ("malformed", "the file is damaged; restore a copy of it, or begin a new one with another --store"),
    ("unable to open", "it cannot be opened: look at the permissions of the file and its folder, or name another --store"),
    ("permission denied", "access is denied: {said}"),
    ("authentication failed", "the server refuses the user or the password: {said}"),
    ("no password supplied", "the server asks for a password: set PGPASSWORD, or write it into ~/.pgpass"),
    ("does not exist", "{said}"),
    ("connection", f"the server cannot be reached, or has gone away: {GONE}"),
)


@contextlib.contextmanager
def told(address: Address) -> Iterator[None]:
    """Turn what a driver raises into a HistoryUnavailable of one sentence, without credentials."""
    import sqlite3

    from sqlalchemy.exc import DBAPIError, SQLAlchemyError

    try:
        yield
    except DBAPIError as error:
        raise _explained(address, error.orig or error) from None
    except (sqlite3.Error, SQLAlchemyError) as error:
        raise _explained(address, error) from None


def _explained(address: Address, error: BaseException) -> HistoryUnavailable:
    said = line(address.clean(error))
    why = next((reason for words, reason in REASONS if words.lower() in said.lower()), "{said}")
    return HistoryUnavailable(f"{address.shown}: {why.format(said=said)}")
