"""The hook for pre-commit, tried with pre-commit itself, from a clone of this checkout."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from batchproof.suites.selftest.offline import checkout, committed, environment

PATIENT_S = 300

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("pre_commit") is None, reason="the extra `selftest` (pre-commit) is not installed"
)


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository that has the hook."""
    return checkout(tmp_path_factory.mktemp("hooks") / "batchproof")


@pytest.mark.timeout(PATIENT_S)
def test_the_hook_installs_and_lints(hooks: Path, tmp_path: Path) -> None:
    """pre-commit makes an environment from the repository, gives the hook config.pbtxt files only, and fails with it."""
    models = tmp_path / "models"
    for name, text in (("good", 'backend: "onnxruntime"\n'), ("bad", 'backend: "onnxruntime"\nmax_batch_size: -1\n')):
        (models / name).mkdir(parents=True)
        (models / name / "config.pbtxt").write_text(text, encoding="utf-8")
    (models / "other.pbtxt").write_text("nonsense {", encoding="utf-8")
    committed(models)

    tried = ["try-repo", str(hooks), "batchproof-lint", "--all-files", "--color=never"]
    command = [sys.executable, "-m", "pre_commit", *tried]
    where = environment(PRE_COMMIT_HOME=str(tmp_path / "home"), VIRTUALENV_SETUPTOOLS="none", VIRTUALENV_NO_DOWNLOAD="1")
    done = subprocess.run(command, cwd=models, env=where, capture_output=True, text=True, timeout=PATIENT_S, check=False)

    assert "bad/config.pbtxt:2:1: CFG-SIZE-001 invalid: 'max_batch_size' must be" in done.stdout, done.stdout + done.stderr
    assert "2 files read; 1 invalid in 1 of them" in done.stdout
    assert done.returncode == 1
