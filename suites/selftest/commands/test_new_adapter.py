"""`batchproof new adapter` under test: what it writes runs as it is, and it never overwrites anything."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from batchproof.commands.adapter.lines import adapter_lines
from batchproof.commands.new.adapter import KINDS, new_adapter, print_new_adapter
from batchproof.exit_status import COMMANDS, ExitStatus
from batchproof.suites.selftest.command_line import invoke, one_message

SOURCE = Path(str(files("batchproof.commands.new") / "skeleton"))
PAGE = Path(__file__).parents[3] / "docs" / "adapters.md"


@pytest.mark.parametrize("kind", KINDS)
def test_the_skeleton_runs_as_it_is(tmp_path: Path, kind: str) -> None:
    """Under another name, each kind's own target is judged, and nothing in it is still called example."""
    if kind == "node" and not shutil.which("node"):
        pytest.skip("Node is not installed")
    written = new_adapter("my_queue", tmp_path, kind)
    target = KINDS[kind].target.format(name="my_queue", class_name="MyQueue").strip("'")

    rules = "--rules=DB-SIZE-002,DB-DELAY-003,DB-ORDER-001,DB-RESULT-001,DB-FAIL-001"
    if kind == "engine":
        rules = "--profile=CONTINUOUS"  # nothing in it waits for a clock
    if kind == "sequences":
        rules = "--rules=SB-DIRECT-001,SB-DIRECT-007,SB-CONTROL-001,SB-CANCEL-002,SB-LIVE-001,SB-CORRID-012"
    command = [sys.executable, "-m", "batchproof", "check", f"--target={target}", rules]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False, env=os.environ)

    assert (run.returncode, run.stderr) == (0, ""), run.stdout
    assert kind == "engine" or "5 PASS" in run.stdout  # of sequences, too: one rule needs several instances
    assert "my_queue 1.0" in run.stdout
    assert [path.name for path in written if "xample" in path.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize("kind", KINDS)
def test_under_the_name_example_the_skeleton_is_unchanged(tmp_path: Path, kind: str) -> None:
    """The files of the skeleton are the source."""
    written = new_adapter("example", tmp_path, kind)

    sources = [SOURCE / part.format("example") for part in KINDS[kind].sources]
    assert [path.read_text() for path in written] == [source.read_text() for source in sources]


@pytest.mark.parametrize("kind", KINDS)
def test_there_are_at_most_40_lines_to_fill_in(tmp_path: Path, kind: str) -> None:
    """The adapter and the server's half have them together; the batcher is a stand-in for one that is there."""
    written = new_adapter("example", tmp_path, kind)

    assert sum(adapter_lines(path) for path in written if path.name.endswith(("_adapter.py", "_server.py"))) <= 40
    assert all(len(path.read_text().splitlines()) <= 40 for path in written if path.name.endswith("_adapter.mjs"))


@pytest.mark.skipif(not PAGE.is_file(), reason="no docs here: the documentation is not installed")
def test_the_page_shows_the_example() -> None:
    """docs/adapters.md shows the adapter word for word."""
    adapter = (SOURCE / "in_process" / "example_adapter.py").read_text(encoding="utf-8")

    assert f"```python\n{adapter}```" in PAGE.read_text(encoding="utf-8")


def test_the_steps_name_the_files_of_the_kind(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The option of the command line chooses the kind, and there can be only one."""
    status, out, _ = invoke(capfd, "new", "adapter", "mine", "--folder", tmp_path, "--http")

    assert status == 0
    assert out.startswith(f"In {tmp_path}: mine_batcher.py, mine_server.py, mine_adapter.py and test_mine.py.")
    assert "1. mine_server.py: make it your own server" in out
    assert "batchproof adapter check mine_adapter:Mine" in out

    status, _, err = invoke(capfd, "new", "adapter", "other", "--folder", tmp_path, "--http", "--asyncio")
    assert (status, one_message(err)) == (2, "batchproof: choose one of --asyncio and --http")


@pytest.mark.parametrize("name", ["My", "1st", "a-b", "a/b", "..", "", "a__b", "class.x"])
def test_a_name_that_is_not_a_module_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    """Nothing is written."""
    assert print_new_adapter(name, tmp_path) is ExitStatus.MISUSE
    assert "use lower-case letters" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_existing_files_stay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """If one of the files already exists, none is written."""
    (tmp_path / "test_mine.py").write_text("mine", encoding="utf-8")

    assert print_new_adapter("mine", tmp_path) is ExitStatus.MISUSE

    assert "test_mine.py already exists" in capsys.readouterr().err
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"test_mine.py": "mine"}


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """If a file is in the way, one message names it."""
    (tmp_path / "file").touch()

    assert print_new_adapter("mine", tmp_path / "file" / "inner") is ExitStatus.UNAVAILABLE
    assert ExitStatus.UNAVAILABLE in COMMANDS["new"]
    assert f"cannot write {tmp_path}/file" in capsys.readouterr().err
