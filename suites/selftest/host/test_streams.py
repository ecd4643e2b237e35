"""A command whose output nobody can take ends as it should: without a traceback, with its own status, its report whole."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from batchproof.exit_status import ExitStatus
from batchproof.reports import read

COMMANDS = {one.split()[0]: one.split() for one in ("--help", "rules DB-*", "lint good.pbtxt", "new adapter mine")}
CHECK = ["check", "--target", "virtual", "--rules", "DB-SIZE-00[12]", "--report", "report"]
FULL = "batchproof: cannot write to standard output: No space left on device\n"


def ended(
    words: Sequence[str], folder: Path, *, out: int | None, close: Sequence[int] = ()
) -> tuple[int, str]:
    """Run a command in a folder with this standard output; return its status, and what it says on standard error."""
    (folder / "good.pbtxt").write_text('backend: "onnxruntime"\n', encoding="utf-8")
    closing = " ".join(f"{number}>&-" for number in close)
    shell = ["sh", "-c", f'exec "$@" {closing}', "sh"]
    program = [*shell, sys.executable, "-m", "batchproof", *words]
    run = subprocess.run(program, cwd=folder, stdout=out, stderr=subprocess.PIPE, text=True, timeout=100, check=False)
    return run.returncode, run.stderr


@pytest.fixture
def full() -> Iterator[int]:
    """Return the descriptor of a disk without room."""
    with Path("/dev/full").open("wb") as file:
        yield file.fileno()


@pytest.fixture
def left() -> Iterator[int]:
    """Return the descriptor of a pipe whose reader has left."""
    reading, writing = os.pipe()
    os.close(reading)
    yield writing
    os.close(writing)


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_a_full_disk_is_told_in_one_line(words: list[str], full: int, tmp_path: Path) -> None:
    """Without a traceback, and not with the status of something that was found."""
    assert ended(words, tmp_path, out=full) == (ExitStatus.UNAVAILABLE, FULL)


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_a_reader_that_has_left_is_not_a_finding(words: list[str], left: int, tmp_path: Path) -> None:
    """As with `| head`: nothing is said."""
    assert ended(words, tmp_path, out=left) == (ExitStatus.UNAVAILABLE, "")


@pytest.mark.parametrize("form", ["text", "github", "sarif"])
def test_a_run_goes_on_without_a_reader(form: str, left: int, tmp_path: Path) -> None:
    """The report is whole, and says that nothing failed."""
    status, said = ended([*CHECK, "--format", form], tmp_path, out=left)

    assert status == ExitStatus.UNAVAILABLE
    assert "Traceback" not in said
    report = read(tmp_path / "report")
    assert (report.truncated, {one["verdict"] for one in report.results}) == (False, {"PASS"})


def test_a_run_goes_on_without_standard_output(tmp_path: Path) -> None:
    """Whoever closes it wants to read nothing, so nothing is lost."""
    assert ended(CHECK, tmp_path, out=None, close=[1]) == (ExitStatus.FINE, "")
    assert ended(CHECK, tmp_path, out=None, close=[1, 2]) == (ExitStatus.FINE, "")
    assert not read(tmp_path / "report").truncated


def test_a_refusal_keeps_its_status_without_a_reader(left: int, tmp_path: Path) -> None:
    """What was to be printed was only the refusal, on standard error."""
    status, said = ended(["history", "list", "--store", "nothing.sqlite"], tmp_path, out=left)
    assert (status, "there is no history" in said) == (ExitStatus.MISUSE, True)


def test_a_character_that_the_output_lacks_is_escaped(tmp_path: Path) -> None:
    """A terminal need not have every character."""
    assert ended(CHECK, tmp_path, out=subprocess.DEVNULL) == (ExitStatus.FINE, "")
    words = [sys.executable, "-m", "batchproof", "matrix", "report"]
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    run = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False, env=env)
    assert (run.returncode, run.stderr, "\\u2717" in run.stdout) == (0, "", True)
