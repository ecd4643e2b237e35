"""What a killed server leaves in /tmp is removed, and nothing else."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from batchproof.targets.triton import forgotten


def folder(path: Path, mode: int = 0o700, **files: str) -> None:
    """Make a folder with these files."""
    path.mkdir()
    for name, text in files.items():
        (path / name.replace("_", ".")).write_text(text, encoding="utf-8")
    path.chmod(mode)


@pytest.mark.parametrize(
    ("process", "removed"),
    [("7 (bash) S 1", True), ("7 (tritonserver) Z 1", True), ("7 (tritonserver) S 1", False)],
    ids=["none runs", "one has ended", "another runs"],
)
def test_only_what_is_certainly_the_servers_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, process: str, *, removed: bool
) -> None:
    """By name, mode, content and time, and never while another server may use it."""
    (tmp_path / "proc" / "7").mkdir(parents=True)
    (tmp_path / "proc" / "7" / "stat").write_text(process, encoding="utf-8")
    place = tmp_path / "tmp"
    place.mkdir()
    monkeypatch.setattr(forgotten, "PROCESSES", tmp_path / "proc")
    monkeypatch.setattr(forgotten, "TEMPORARY", place)
    since = time.time() - 60
    folder(place / "python_env_aB3_xY")
    folder(place / "folderaB3cXY", config_pbtxt="")
    folder(place / "python_env_full01", tarball="an environment")
    folder(place / "folderOfmine", letter="dear")
    folder(place / "folder012345", 0o755, config_pbtxt="")
    folder(place / "folderwithalongername", config_pbtxt="")

    forgotten.remove_forgotten(time.time() + 60)
    before = {path.name for path in place.iterdir()}
    forgotten.remove_forgotten(since)

    assert len(before) == 6
    assert before - {path.name for path in place.iterdir()} == ({"python_env_aB3_xY", "folderaB3cXY"} if removed else set())
