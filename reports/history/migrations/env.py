"""What Alembic runs: the migrations, on the connection and in the transaction that it is given."""

from alembic import context

from batchproof.reports.history.models import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
context.run_migrations()
