"""Revisions: checked out alongside the user's files, with an environment, and removed whatever happens."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from batchproof.bench.ab.revision import checked_out
from batchproof.targets.protocol import Misuse, TargetError


def git(folder: Path, *words: str) -> str:
    """Run git; return what it prints."""
    about = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    command = ["git", "-C", str(folder), *about, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with two revisions of a module, and a third one that is not committed; it is the current folder."""
    folder = tmp_path / "repository"
    (folder / "service").mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    for version in ("1", "2"):
        (folder / "service" / "batcher.py").write_text(f"VERSION = {version}\n", encoding="utf-8")
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "--message", version)
    (folder / "service" / "batcher.py").write_text("VERSION = 3\n", encoding="utf-8")
    monkeypatch.chdir(folder / "service")
    return folder


def version_in(folder: str, python: str, path: tuple[str, ...]) -> str:
    """The version that an interpreter imports there."""
    program = [python, "-c", "import batcher, numpy; print(batcher.VERSION)"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
    return subprocess.run(program, check=True, capture_output=True, text=True, cwd=folder, env=environment).stdout.strip()


def test_a_revision_is_imported_and_removed(repository: Path) -> None:
    """With the packages of this environment; the user's own files stay as they are."""
    with checked_out("HEAD~1") as tree:
        assert version_in(tree.folder, tree.python, tree.path) == "1"
        assert len(git(repository, "worktree", "list").splitlines()) == 2
        place = Path(tree.folder)

    assert tree.commit == git(repository, "rev-parse", "HEAD~1")
    assert not place.exists()
    assert len(git(repository, "worktree", "list").splitlines()) == 1
    assert (repository / "service" / "batcher.py").read_text(encoding="utf-8") == "VERSION = 3\n"


def test_an_interruption_removes_it_too(repository: Path) -> None:
    """As Ctrl-C does it."""
    with pytest.raises(KeyboardInterrupt), checked_out("main") as tree:
        raise KeyboardInterrupt

    assert not Path(tree.folder).exists()
    assert len(git(repository, "worktree", "list").splitlines()) == 1


def test_the_setup_runs_in_the_revision(repository: Path) -> None:
    """With the environment's own python first."""
    with checked_out("main", "python -c \"open('made', 'w').write(__import__('sys').executable)\"") as tree:
        assert (Path(tree.folder) / "made").read_text(encoding="utf-8") == tree.python
    assert not (repository / "service" / "made").exists()


@pytest.mark.parametrize(
    ("revision", "setup", "error", "said"),
    [
        ("nothing", "", Misuse, "there is no revision nothing"),
        ("--help", "", Misuse, "there is no revision --help"),
        ("main", "no-such-program-here", Misuse, "there is no program no-such-program-here"),
        ("main", "python -c \"raise SystemExit('broken')\"", TargetError, "failed in revision main with status 1: broken"),
    ],
)
def test_what_cannot_be_checked_out_is_one_message(
    repository: Path, revision: str, setup: str, error: type[Exception], said: str
) -> None:
    """Nothing is left of it."""
    with pytest.raises(error, match=said), checked_out(revision, setup):
        pass
    assert len(git(repository, "worktree", "list").splitlines()) == 1


def test_without_a_repository_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current folder is what counts."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Misuse, match="the current folder is not in a git repository"), checked_out("main"):
        pass


def test_a_folder_that_the_revision_lacks_is_named(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It came later."""
    (repository / "later").mkdir()
    monkeypatch.chdir(repository / "later")
    with pytest.raises(Misuse, match="revision main does not have the folder later"), checked_out("main"):
        pass
