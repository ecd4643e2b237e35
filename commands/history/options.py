"""What several verbs of `batchproof history` share: the commit, the filters, the lines, and how each verb ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import ParamSpec

from batchproof.commands.history.git import Repository
from batchproof.exit_status import ExitStatus, refuse
from batchproof.reports import ReportError
from batchproof.reports.history import Commit, HistoryError, HistoryUnavailable, Run
from batchproof.reports.history.run import moment, seconds_of
from batchproof.reports.wording import count, line

Arguments = ParamSpec("Arguments")


@dataclass(frozen=True)
class Measured:
    """Which commit the runs measured. name: as git knows it; empty: what is checked out. none: keep no commit."""

    repo: Path = Path()
    name: str = ""
    branch: str = ""
    dirty: bool = False
    none: bool = False

    def commit(self) -> Commit | None:
        """Return the commit; None outside of a repository. HistoryError if git does not know its name."""
        if self.none:
            return None
        repository = Repository(self.repo)
        if self.name:
            return repository.commit(self.name, dirty=self.dirty, branch=self.branch)
        found = repository.checked_out()
        return replace(found, branch=self.branch or found.branch, dirty=self.dirty or found.dirty) if found else None


@dataclass(frozen=True)
class Asked:
    """Which series are looked at. figure: an id, or a pattern with `*`. last: runs of each, the newest; 0: all.

    least_change: a share; smaller changes are left out. repo: the checkout that knows the commits.
    """

    figure: str = ""
    target: str = ""
    branch: str = ""
    host: str = ""
    last: int = 200
    least_change: float = 0.02
    repo: Path = Path()

    @property
    def chosen(self) -> str:
        """The options that choose series, as they were given; empty if every series is asked for."""
        given = (("--figure", self.figure), ("--target", self.target), ("--host", self.host))
        return " ".join(line(f"{option} {value}") for option, value in given if value)


def with_commit(run: Run, commit: Commit | None, *, named: bool) -> Run:
    """Return the run with the commit that it measured. HistoryError if it began before that commit was made."""
    if run.commit is None and commit is not None and not named and run.when < commit.at:
        raise HistoryError(
            f"the run began at {moment(run.when)}, before the commit that is checked out was made ({moment(commit.at)}): "
            "name the commit that it measured with --commit, or keep none with --no-commit"
        )
    return replace(run, commit=commit if named or run.commit is None else run.commit)


def ends(verb: Callable[Arguments, ExitStatus]) -> Callable[Arguments, ExitStatus]:
    """Turn what a verb raises into one message and its exit status."""

    @wraps(verb)
    def ended(*given: Arguments.args, **more: Arguments.kwargs) -> ExitStatus:
        try:
            return verb(*given, **more)
        except HistoryUnavailable as error:
            return refuse(line(error), ExitStatus.UNAVAILABLE)
        except (HistoryError, ReportError) as error:
            return refuse(line(error))
        except KeyboardInterrupt:
            return refuse("interrupted; what was added before is kept", ExitStatus.INTERRUPTED)

    return ended


def date(option: str, text: str) -> int | None:
    """Return the seconds of a date or time on the command line; None if it is empty."""
    try:
        return seconds_of(text) if text else None
    except (ValueError, OverflowError):
        raise HistoryError(f"{option} {line(text)}: not a date such as 2026-11-23 or 2026-11-23T09:00:00Z") from None


def described(run: Run) -> str:
    """Return a run in a line."""
    what = f"{run.kind} of {run.target} {run.version}".strip() if run.target else run.kind
    early = "".join(f"; {run.about[one]}" for one in ("truncated", "missing") if one in run.about)
    figures = count(len(run.figures), "figure")
    return f"{what} ({run.form}), {figures}, {of_commit(run.commit)}, host {run.host.fingerprint}{early}"


def of_commit(commit: Commit | None) -> str:
    """Return a commit in some words."""
    if commit is None:
        return "no commit"
    return f"commit {short(commit)}" + (f" on {commit.branch}" if commit.branch else "")


def short(commit: Commit | None) -> str:
    """Return a commit in ten digits, with a `+` if there were changes in the checkout."""
    return "-" if commit is None else commit.sha[:10] + "+" * commit.dirty
