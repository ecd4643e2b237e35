"""The batcher of `example_batcher.mjs` is judged by CORE, the rules for every dynamic batcher."""

import subprocess
import sys
from pathlib import Path


def test_it_is_conformant_to_core(tmp_path: Path) -> None:
    """The check exits with 0. If it does not, its output shows each failure."""
    check = [sys.executable, "-m", "batchproof", "check", "--profile=CORE", f"--report={tmp_path}"]
    target = "--target=stdio:node example_adapter.mjs"

    run = subprocess.run([*check, target], cwd=Path(__file__).parent, capture_output=True, text=True, check=False)

    assert run.returncode == 0, run.stdout + run.stderr
