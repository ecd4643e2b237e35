"""Which commits may have made a change: this one, or one of these, which were not measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from batchproof.commands.history.git import Repository
from batchproof.reports.history.queries import Point
from batchproof.reports.wording import count, line

if TYPE_CHECKING:
    from batchproof.reports.history.changes import Changed

SOFTWARE = ("kernel", "python", "numpy", "torch", "OMP_NUM_THREADS", "awake")
SHOWN = 5  # commits by name


@dataclass(frozen=True)
class Suspects:
    """What lies between a run that was surely before a change and one that was surely after it.

    commits: the oldest first; None if git cannot say. exact: it is the one commit. says: the same for people,
    the first line by itself.
    """

    commits: tuple[str, ...] | None
    exact: bool
    says: tuple[str, ...]


HOST = Suspects((), exact=False, says=("not a commit: the host itself became faster or slower, or was busier",))


def suspects(repository: Repository, change: Changed, software: Sequence[str] = ()) -> Suspects:
    """Return what may have made a change of a series. software: what else differs, in words."""
    return between(repository, change.earliest, change.latest, software, adjacent=change.certain)


def between(
    repository: Repository, before: Point, after: Point, software: Sequence[str] = (), *, adjacent: bool = True
) -> Suspects:
    """Return what lies between two runs of a series. adjacent: there is no run between them."""
    more = (*_elsewhere(before, after), *software)
    if not before.commit or not after.commit:
        return Suspects(None, exact=False, says=(f"between {before.time} and {after.time}: no commit is known", *more))
    if before.commit == after.commit:
        says = f"not a commit: both runs measured {_named(repository, after.commit)}"
        if before.dirty or after.dirty:
            says = f"changes that were not committed on top of {_named(repository, after.commit)}"
        return Suspects((), exact=False, says=(says, *more))
    commits = repository.between(before.commit, after.commit)
    if commits is None:
        says = f"between {before.commit[:10]} and {after.commit[:10]}: git does not know that one leads to the other here"
        return Suspects(None, exact=False, says=(says, *more))
    if before.dirty or after.dirty:
        more = ("there were changes that were not committed", *more)
    if len(commits) == 1:
        return Suspects(commits, exact=not (before.dirty or after.dirty),
                        says=(f"this commit: {_named(repository, commits[0])}", *more))  # fmt: skip
    why = "of which only the last was measured" if adjacent else "because runs vary too much to tell which"
    says = f"somewhere in these {count(len(commits), 'commit')}, {why}:"
    return Suspects(commits, exact=False, says=(says, *_listed(repository, commits), *more))


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return in words what `about` says of the software beneath two runs, where it differs."""
    changed = ((key, before.get(key), after.get(key)) for key in SOFTWARE)
    return [line(f"{key} changed from {old} to {new}") for key, old, new in changed if old and new and old != new]


def _listed(repository: Repository, commits: Sequence[str]) -> list[str]:
    shown = commits if len(commits) <= SHOWN else [*commits[: SHOWN - 1], commits[-1]]
    named = [f"  {_named(repository, one)}" for one in shown]
    return named if len(shown) == len(commits) else [*named[:-1], f"  ... {len(commits) - SHOWN} more ...", named[-1]]


def _elsewhere(before: Point, after: Point) -> tuple[str, ...]:
    """Return what else differs between the two runs, and may be the cause."""
    if before.version != after.version:
        return (line(f"the target's version changed from {before.version or 'none'} to {after.version or 'none'}"),)
    return ()


def _named(repository: Repository, commit: str) -> str:
    return line(f"{commit[:10]} {repository.subject(commit)}")
