"""`batchproof history upgrade`: an older schema becomes this version's. An SQLite file keeps a copy of what it was."""

from __future__ import annotations

from batchproof.commands.history.options import ends
from batchproof.exit_status import ExitStatus


@ends
def upgrade_store(store: str) -> ExitStatus:
    """Bring a history up to date."""
    from batchproof.reports.history.schema import upgraded

    done = upgraded(store)
    if done.before == done.after:
        print(f"{done.shown} is up to date: schema {done.after}")
    else:
        kept = f"; {done.copy} has it as it was" if done.copy else ""
        print(f"{done.shown}: schema {done.before} became {done.after}{kept}")
    return ExitStatus.FINE
