"""The batcher of `example_batcher.py` is judged by SEQUENCE, the rules for every batcher of sequences."""

import subprocess
import sys
from pathlib import Path


def test_it_is_conformant_to_sequence(tmp_path: Path) -> None:
    """The check exits with 0. If it does not, its output shows each failure."""
    check = [sys.executable, "-m", "batchproof", "check", "--profile=SEQUENCE", f"--report={tmp_path}"]
    target = "--target=example_adapter:Example"

    run = subprocess.run([*check, target], cwd=Path(__file__).parent, capture_output=True, text=True, check=False)

    assert run.returncode == 0, run.stdout + run.stderr
