"""The tables of a history. The migrations make them; a selftest compares the two.

A series is one figure of one target, in one form, on one host. Its points lie together and in order, so that a chart reads
one stretch of the file: `points` has no other primary key than its place in its series.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

METADATA = MetaData()
BIG = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers rows by itself only in a column called INTEGER

hosts = Table(
    "hosts", METADATA,
    Column("id", BIG, primary_key=True),
    Column("fingerprint", String(200), nullable=False, unique=True),
    Column("facts", Text, nullable=False),
)  # fmt: skip

runs = Table(
    "runs", METADATA,
    Column("id", BIG, primary_key=True),
    Column("key", String(64), nullable=False, unique=True),
    Column("at", BigInteger, nullable=False),  # its place in every series: commit_at, or measured
    Column("measured", BigInteger, nullable=False),
    Column("added", BigInteger, nullable=False),
    Column("kind", String(20), nullable=False),
    Column("origin", String(200), nullable=False),
    Column("target", String(200), nullable=False),
    Column("version", String(200), nullable=False),
    Column("form", String(200), nullable=False),
    Column("host_id", BIG, ForeignKey("hosts.id"), nullable=False),
    Column("commit_sha", String(64)),
    Column("commit_at", BigInteger),
    Column("dirty", Boolean),
    Column("branch", String(200), nullable=False),
    Column("about", Text, nullable=False),
    Index("runs_in_order", "at", "id"),
    Index("runs_by_host", "host_id"),
    sqlite_autoincrement=True,  # the number of a pruned run is not given to another one
)  # fmt: skip

series = Table(
    "series", METADATA,
    Column("id", BIG, primary_key=True),
    Column("figure", String(200), nullable=False),
    Column("unit", String(200), nullable=False),
    Column("better", String(6), nullable=False),
    Column("target", String(200), nullable=False),
    Column("form", String(200), nullable=False),
    Column("host_id", BIG, ForeignKey("hosts.id"), nullable=False),
    UniqueConstraint("figure", "target", "form", "host_id", "unit", "better", name="one_series"),
    Index("series_of_a_run", "host_id", "target", "form"),
)  # fmt: skip

points = Table(
    "points", METADATA,
    Column("series_id", BIG, ForeignKey("series.id"), primary_key=True, autoincrement=False),
    Column("at", BigInteger, primary_key=True, autoincrement=False),
    Column("run_id", BIG, ForeignKey("runs.id"), primary_key=True, autoincrement=False),
    Column("value", Float(53), nullable=False),
    Column("low", Float(53)),
    Column("high", Float(53)),
    Column("n", BigInteger, nullable=False),
    Column("valid", Boolean, nullable=False),
    Index("points_of_a_run", "run_id"),
    sqlite_with_rowid=False,
)  # fmt: skip
