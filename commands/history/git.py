"""What git knows: which commit is checked out, and which commits lie between two. Nothing here changes a repository."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from batchproof.reports.history import Commit, HistoryError

LIMIT_S = 30
BRANCHES = ("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_BRANCH", "BRANCH_NAME")  # CI systems check out no branch


@dataclass(frozen=True)
class Repository:
    """A checkout, by its folder. It may turn out to be none."""

    folder: Path

    def checked_out(self) -> Commit | None:
        """Return the commit that is checked out here; None if this is not a repository, or git is not installed."""
        found = self._commit("HEAD")
        if found is None:
            return None
        changed = self._ask("status", "--porcelain", "--untracked-files=no")
        branch = self._ask("branch", "--show-current") or _branch_in_ci()
        return Commit(found.sha, found.at, dirty=bool(changed), branch=branch or "")

    def commit(self, name: str, *, dirty: bool = False, branch: str = "") -> Commit:
        """Return the commit that git knows by this name; HistoryError if there is none."""
        found = self._commit(name)
        if found is None:
            raise HistoryError(f"--commit {name}: git knows no such commit in {self.folder}; --repo names another checkout")
        return Commit(found.sha, found.at, dirty=dirty, branch=branch)

    def between(self, before: str, after: str) -> tuple[str, ...] | None:
        """Return the commits that `after` has and `before` has not, the oldest first; None if git cannot say.

        Git cannot say if it lacks one of the two, or if `after` is not made from `before`.
        """
        if self._ask("merge-base", "--is-ancestor", before, after) is None:
            return None
        listed = self._ask("rev-list", "--reverse", "--topo-order", f"{before}..{after}")
        return None if listed is None else tuple(listed.split())

    def in_order(self, commits: Sequence[str]) -> dict[str, int] | None:
        """Return the place of each commit in an order in which none comes before its parents; None if git lacks one."""
        if not commits:
            return {}
        listed = self._ask("rev-list", "--reverse", "--topo-order", "--stdin", stdin="\n".join(commits) + "\n")
        places = {sha: place for place, sha in enumerate((listed or "").split())}
        return {one: places[one] for one in commits} if all(one in places for one in commits) else None

    def subject(self, commit: str) -> str:
        """Return the first line of a commit's message; empty if git does not know it."""
        return self._ask("log", "-1", "--format=%s", commit, "--") or ""

    def _commit(self, name: str) -> Commit | None:
        sha = self._ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        at = self._ask("log", "-1", "--format=%ct", sha, "--") if sha else None
        return Commit(sha, int(at)) if sha and at else None

    def _ask(self, *words: str, stdin: str = "") -> str | None:
        """Return what git prints; None if it fails."""
        command = ["git", "-C", str(self.folder), *words]
        environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
        try:
            done = subprocess.run(
                command, input=stdin, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False,
                errors="replace",
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout.strip() if done.returncode == 0 else None


def _branch_in_ci() -> str:
    return next((os.environ[name] for name in BRANCHES if os.environ.get(name)), "")
