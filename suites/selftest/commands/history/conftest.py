"""A checkout and report folders for the tests of `batchproof history`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from batchproof.reports.figures import Figure
from batchproof.reports.formats.bench import BenchWriter

pytest.importorskip("sqlalchemy", reason="the extra `history` is not installed")
TARGET = {"name": "reference", "version": "1", "reached": "x", "contact": "", "sight": "virtual", "claims": {}}
FIGURE = Figure("sweep.best_rows_per_s[work=mlp]", 100.0, "rows/s", "higher", 99.0, 102.0, 8)


class Checkout:
    """A git repository with some commits, each an hour after the one before, from 2023-11-14T22:00:00Z on."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.commits: list[str] = []
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str, at: int = 1_700_000_000) -> str:
        """Run git."""
        who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER")
               for what, value in (("NAME", "A"), ("EMAIL", "a@example.com"), ("DATE", f"{at} +0000"))}
        command = [str(shutil.which("git")), *words]
        environment = {**os.environ, **who}
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(self, text: str = "x") -> str:
        """Make a commit; return its hash."""
        (self.folder / "file").write_text(f"{text} {len(self.commits)}")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", text, at=1_700_000_000 + 3600 * len(self.commits))
        self.commits.append(self.git("rev-parse", "HEAD"))
        return self.commits[-1]


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A checkout with three commits, in the working directory."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    folder = tmp_path / "checkout"
    folder.mkdir()
    found = Checkout(folder)
    for text in ("first", "second", "third"):
        found.commit(text)
    return found


@pytest.fixture(autouse=True)
def _no_ci(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What a CI system says of itself is not about these checkouts; the default history is in a folder of its own."""
    from batchproof.commands.history.git import BRANCHES

    for name in (*BRANCHES, "BATCHPROOF_HISTORY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def bench_folder(folder: Path, *figures: Figure, whole: bool = True, **header: Any) -> Path:
    """Write a bench with these figures; return its folder."""
    writer = BenchWriter(folder)
    about = {"target": TARGET, "measurements": ["sweep"], "works": ["mlp"], "quick": True, "seed": 1, "slo_ns": 0,
             "price": None, "command": "batchproof bench --target reference --quick"}
    writer.header(**{**about, **header})
    facts = {"question": "?", "word": "measured", "seconds": 1, "valid": True, "reasons": [], "verdict": "", "headline": "",
             "tables": [], "figures": [figure.facts() for figure in figures]}
    writer.measurement("sweep", facts)
    if whole:
        writer.footer(0, complete=True, reason="")
    writer.close()
    return folder


def started(folder: Path, when: str) -> Path:
    """Let a bench have begun at this time."""
    file = folder / "bench.jsonl"
    head, *rest = file.read_text().splitlines()
    file.write_text("\n".join([json.dumps({**json.loads(head), "started": when}), *rest]) + "\n")
    return folder
