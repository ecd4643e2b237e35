"""`batchproof check --format`: what a CI system reads, alongside what people read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from batchproof.reports import read
from batchproof.reports.alerts import to_sarif
from batchproof.suites.selftest.sarif_schema import problems

MUTANT = ("--target", "mutant:delay-rearmed", "--rules", "DB-DELAY-00[1-5]", "--report", "out")


def check(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Judge a mutant."""
    command = [sys.executable, "-m", "batchproof", "check", *MUTANT, *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=100, check=False)


def test_github_gets_annotations_after_the_text(tmp_path: Path) -> None:
    """People read what they always read; then come the workflow commands; the status is the verdict's."""
    done = check(tmp_path, "--format", "github")

    lines = done.stdout.splitlines()
    assert done.returncode == 1
    assert "NOT CONFORMANT: 1 of 5 judged MUST rules fails" in lines
    assert [line.partition(" title")[0] for line in lines[-2:]] == ["::error", "::error"]
    assert lines[-2].startswith("::error title=FAIL DB-DELAY-005%3A The delay counts")
    assert "batchproof check --replay out/bundles/" in lines[-2]


def test_sarif_has_standard_output_for_itself(tmp_path: Path) -> None:
    """The log can be redirected into a file: people read on standard error. The report folder has the same log."""
    done = check(tmp_path, "--format", "sarif")

    assert done.returncode == 1
    assert "NOT CONFORMANT: 1 of 5 judged MUST rules fails" in done.stderr
    assert done.stdout == f"{to_sarif(read(tmp_path / 'out'))}\n" == (tmp_path / "out" / "report.sarif").read_text()
    assert problems(done.stdout) == []


@pytest.mark.parametrize(("form", "printed"), [("github", ["starting mutant:none"]), ("sarif", [])])
def test_a_run_that_does_not_begin_marks_nothing(tmp_path: Path, form: str, printed: list[str]) -> None:
    """A wrong target is one line on standard error, and 2."""
    done = check(tmp_path, "--format", form, "--target", "mutant:none")

    assert (done.returncode, done.stdout.split("\n")[: len(printed)], "::" in done.stdout) == (2, printed, False)
    assert "unknown mutant 'none'" in done.stderr


def test_a_replay_has_no_format(tmp_path: Path) -> None:
    """A replay prints text: another format is refused, and not ignored."""
    done = check(tmp_path, "--replay", "x.zip", "--format", "sarif")

    assert (done.returncode, done.stderr) == (2, "batchproof: --replay prints text: leave --format out\n")
