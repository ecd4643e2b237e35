"""For tests that install this checkout: a copy of it as a repository, and an environment in which pip needs no network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

# The checkout: where pytest runs, also if the package itself is installed elsewhere.
ROOT = Path.cwd() if (Path.cwd() / "action.yml").is_file() else Path(__file__).parents[2]
AUTHOR = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "t"), ("EMAIL", "t@t"))}


def environment(**more: str) -> dict[str, str]:
    """Return variables with which pip builds with what is installed here, and installs nothing else.

    The dependencies of what is installed are found next to this interpreter's own packages, where this package may be, too.
    """
    pip = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1",
           "PIP_FORCE_REINSTALL": "1"}  # fmt: skip
    found = sysconfig.get_paths()["purelib"]
    git = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, **AUTHOR}
    return {**os.environ, **pip, **git, "PYTHONPATH": found, **more}


def git(folder: Path, *words: str) -> str:
    """Run git there; return what it prints."""
    command = ["git", "-c", "init.defaultBranch=main", *words]
    return subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=True).stdout


def checkout(folder: Path) -> Path:
    """Copy the files of this checkout, as they are now, into a repository of one commit; skip where this is not one."""
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        pytest.skip("not a checkout with git: there is nothing to clone")
    folder.mkdir()
    for name in git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return committed(folder)


def committed(folder: Path) -> Path:
    """Make a repository of a folder, with everything in it in one commit."""
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message=all")
    return folder
