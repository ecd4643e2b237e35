"""The first schema: hosts, runs, series and their points.

Revision ID: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "hosts",
        sa.Column("id", BIG, primary_key=True),
        sa.Column("fingerprint", sa.String(200), nullable=False, unique=True),
        sa.Column("facts", sa.Text(), nullable=False),
    )
    op.create_table(
        "runs",
        sa.Column("id", BIG, primary_key=True),
        sa.Column("key", sa.String(64), nullable=False, unique=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("measured", sa.BigInteger(), nullable=False),
        sa.Column("added", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("origin", sa.String(200), nullable=False),
        sa.Column("target", sa.String(200), nullable=False),
        sa.Column("version", sa.String(200), nullable=False),
        sa.Column("form", sa.String(200), nullable=False),
        sa.Column("host_id", BIG, sa.ForeignKey("hosts.id"), nullable=False),
        sa.Column("commit_sha", sa.String(64)),
        sa.Column("commit_at", sa.BigInteger()),
        sa.Column("dirty", sa.Boolean()),
        sa.Column("branch", sa.String(200), nullable=False),
        sa.Column("about", sa.Text(), nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("runs_in_order", "runs", ["at", "id"])
    op.create_index("runs_by_host", "runs", ["host_id"])
    op.create_table(
        "series",
        sa.Column("id", BIG, primary_key=True),
        sa.Column("figure", sa.String(200), nullable=False),
        sa.Column("unit", sa.String(200), nullable=False),
        sa.Column("better", sa.String(6), nullable=False),
        sa.Column("target", sa.String(200), nullable=False),
        sa.Column("form", sa.String(200), nullable=False),
        sa.Column("host_id", BIG, sa.ForeignKey("hosts.id"), nullable=False),
        sa.UniqueConstraint("figure", "target", "form", "host_id", "unit", "better", name="one_series"),
    )
    op.create_index("series_of_a_run", "series", ["host_id", "target", "form"])
    op.create_table(
        "points",
        sa.Column("series_id", BIG, sa.ForeignKey("series.id"), primary_key=True, autoincrement=False),
        sa.Column("at", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("run_id", BIG, sa.ForeignKey("runs.id"), primary_key=True, autoincrement=False),
        sa.Column("value", sa.Float(53), nullable=False),
        sa.Column("low", sa.Float(53)),
        sa.Column("high", sa.Float(53)),
        sa.Column("n", sa.BigInteger(), nullable=False),
        sa.Column("valid", sa.Boolean(), nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("points_of_a_run", "points", ["run_id"])
