"""Temporary folders: those of dead processes are removed, and those of others are not."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from batchproof.host import scratch


def test_what_a_killed_process_left_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the next one, which leaves alone what belongs to the living, and to another machine or container."""
    program = f"import os\nfrom {scratch.__name__} import scratch_folder\nprint(scratch_folder(), flush=True)\nos._exit(1)"
    path = os.pathsep.join([str(Path(scratch.__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    left = subprocess.run([sys.executable, "-c", program], env={**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": path},
                          capture_output=True, text=True, check=False).stdout.strip()  # fmt: skip
    dead = Path(left).name.split("-")[1]
    kept = [f"batchproof-{os.getpid()}-{scratch._here()}-x", f"batchproof-{dead}-0abcdef0-x", "batchproof-mine", "other"]
    for name in kept:
        (tmp_path / name).mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    assert Path(left).is_dir()
    scratch._sweep.cache_clear()
    mine = scratch.scratch_folder()

    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*kept, Path(mine).name])
