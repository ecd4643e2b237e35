"""A git revision of the user's own code, checked out next to it with its own environment, and removed afterwards."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import site
import subprocess
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from batchproof.bench.ab.side import in_tree
from batchproof.host.scratch import scratch_folder
from batchproof.targets.protocol import Misuse, TargetError

LINES = 5


@dataclass(frozen=True)
class Checkout:
    """A revision on disk. commit: its full id. folder: what the current folder is in it. python: its interpreter."""

    commit: str
    folder: str
    python: str
    path: tuple[str, ...]


@contextlib.contextmanager
def checked_out(revision: str, setup: str = "", *, python: str = "") -> Iterator[Checkout]:
    """Yield the revision of the repository that the current folder is in; however it ends, nothing of it is left.

    The environment sees every package of this one, and the revision's own modules before them. setup: a command that is run
    in the revision first, with the environment's python first on the path. python: this interpreter instead of an
    environment. Misuse: there is no such revision, or no repository here. TargetError: the setup failed.
    """
    top = Path(_git(Path.cwd(), "rev-parse", "--show-toplevel", why="the current folder is not in a git repository"))
    commit = _git(
        top,
        "rev-parse",
        "--verify",
        "--quiet",
        "--end-of-options",
        f"{revision}^{{commit}}",
        why=f"there is no revision {revision}",
    )
    place = Path(scratch_folder())
    tree = place / "tree"
    try:
        _git(top, "worktree", "add", "--detach", "--quiet", str(tree), commit, why=f"cannot check out {revision}")
        folder = tree / Path.cwd().resolve().relative_to(Path(top).resolve())
        if not folder.is_dir():
            raise Misuse(
                f"revision {revision} does not have the folder {folder.relative_to(tree)}, in which this was started"
            )
        found = Checkout(commit, str(folder), python or _environment(place / "env"), (*in_tree(folder), *in_tree(tree)))
        _set_up(setup, found, revision)
        yield found
    finally:
        with contextlib.suppress(Misuse):
            _git(top, "worktree", "remove", "--force", str(tree), why="")
        shutil.rmtree(place, ignore_errors=True)
        with contextlib.suppress(Misuse):
            _git(top, "worktree", "prune", why="")


def _environment(place: Path) -> str:
    """Make an environment that has what this one has; return its interpreter."""
    venv.create(place, with_pip=False, symlinks=True)
    inherited = [*site.getsitepackages(), *([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])]
    own = next((place / "lib").glob("python*/site-packages"))
    lines = [f"import site; site.addsitedir({one!r})" for one in inherited]  # so that their own .pth files count, too
    (own / "batchproof-inherits.pth").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(place / "bin" / "python")


def _set_up(command: str, found: Checkout, revision: str) -> None:
    if not command:
        return
    path = os.pathsep.join([str(Path(found.python).parent), os.environ.get("PATH", os.defpath)])
    environment = {**os.environ, "PATH": path, "VIRTUAL_ENV": str(Path(found.python).parent.parent)}
    words = shlex.split(command)
    program = shutil.which(words[0], path=path) if words else None
    if program is None:
        raise Misuse(f"--setup {command}: there is no program {words[0] if words else ''}".rstrip())
    ran = subprocess.run(
        [program, *words[1:]], cwd=found.folder, env=environment, check=False, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
    )  # fmt: skip
    if ran.returncode:
        told = "; ".join(ran.stdout.strip().splitlines()[-LINES:]) or "it printed nothing"
        raise TargetError(f"--setup {command} failed in revision {revision} with status {ran.returncode}: {told}")


def _git(where: Path, *words: str, why: str) -> str:
    """Return what git prints; Misuse, with this beginning, if it fails."""
    program = shutil.which("git")
    if program is None:
        raise Misuse("a revision needs git, and there is no program of that name")
    ran = subprocess.run([program, "-C", str(where), *words], check=False, capture_output=True, text=True, errors="replace")
    if ran.returncode:
        told = ran.stderr.strip().splitlines()
        raise Misuse(f"{why}{f' ({told[-1]})' if told else ''}")
    return ran.stdout.strip()
