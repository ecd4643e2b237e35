"""`batchproof history prune`: removes runs, once it was told to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from batchproof.commands.history.options import date, ends
from batchproof.exit_status import ExitStatus
from batchproof.reports.history import HistoryError
from batchproof.reports.wording import count


@dataclass(frozen=True)
class Pruning:
    """What goes: these runs, or those before a date, of a target, on a branch, but never the newest `keep`."""

    runs: Sequence[int] = ()
    before: str = ""
    target: str = ""
    branch: str = ""
    keep: int = 0

    @property
    def restricts(self) -> bool:
        """Whether it says anything at all."""
        return bool(self.runs or self.before or self.target or self.branch or self.keep)


@ends
def prune_runs(store: str, what: Pruning, *, yes: bool) -> ExitStatus:
    """Say what goes; remove it if `yes`."""
    from batchproof.reports.history.queries import Which, numbers
    from batchproof.reports.history.store import opened
    from batchproof.reports.history.writing import prune

    if not what.restricts:
        raise HistoryError("say what to remove: --run, --before, --target, --branch or --keep")
    which = Which(target=what.target, branch=what.branch, until=date("--before", what.before))
    with opened(store, write=yes) as history:
        found = numbers(history, which, ids=what.runs)
        if lacking := set(what.runs) - set(found):
            raise HistoryError(f"there is no run {min(lacking)}: `batchproof history list` shows which there are")
        going = found[: max(0, len(found) - what.keep)]
        if not yes:
            print(f"{count(len(going), 'run')} would be removed; --yes removes them")
            return ExitStatus.FINE
        print(f"{count(prune(history, going), 'run')} removed")
    return ExitStatus.FINE
