"""The files that docs/ci.md shows, for the tests that run them: the first comment of each names it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from functools import cache
from pathlib import Path

from batchproof.suites.selftest.offline import ROOT, committed, environment, git

PAGE = ROOT / "docs" / "ci.md"
NAME = re.compile(r"^(?:#!/bin/sh\n)?(?:#|//) ([\w./-]+)", re.MULTILINE)
BLOCK = re.compile(r"^```(?:yaml|sh|groovy)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PATIENT_S = 300
RULES = "DB-DELAY-00[1-5]"  # enough for a story


@cache
def files() -> dict[str, str]:
    """Return the text of every file that the page shows, by its path."""
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    return {found[1]: block for block in blocks if (found := NAME.match(block))}


def shell_of(jenkinsfile: str) -> list[str]:
    """Return what each `sh` of a Jenkinsfile gives to the shell."""
    return [textwrap.dedent(one).strip() for one in re.findall(r"'''\n(.*?)'''", jenkinsfile, re.DOTALL)]


def repository(folder: Path, base: str, now: str) -> Path:
    """Make a repository in which models/a/config.pbtxt was `base` in the last commit and is `now`, with the page's files."""
    model = folder / "models" / "a" / "config.pbtxt"
    model.parent.mkdir(parents=True)
    (folder / "ci").mkdir()
    for name, text in files().items():
        if name.startswith("ci/"):
            (folder / name).write_text(text, encoding="utf-8")
    model.write_text(base, encoding="utf-8")
    committed(folder)
    git(folder, "branch", "base")
    model.write_text(now, encoding="utf-8")
    return folder


def command(folder: Path, body: str = "") -> str:
    """Put a `batchproof` into a folder; return a PATH that begins with it and with this interpreter.

    It is this one, with a few rules for `check` and a quick measurement for `bench`. body: shell that it runs before.
    """
    folder.mkdir(exist_ok=True)
    program = folder / "batchproof"
    chosen = f'case $1 in check) shift; set -- check --rules "{RULES}" "$@";; bench) set -- "$@" --only naive;; esac'
    program.write_text(f'#!/bin/sh\n{body}\n{chosen}\nexec "{sys.executable}" -m batchproof "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return f"{folder}:{Path(sys.executable).parent}:{os.environ['PATH']}"


def run(folder: Path, words: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command there; standard error follows in standard output."""
    where = environment(**variables)
    where["PYTHONPATH"] = os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH", ""), where["PYTHONPATH"])))
    return subprocess.run(
        words, cwd=folder, env=where, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENT_S,
        check=False,
    )  # fmt: skip
