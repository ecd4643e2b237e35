"""The command line in this process, for the tests of it."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest
from typer.testing import CliRunner

from batchproof.cli import app

LIARS = "batchproof.suites.selftest.liars"
CONFIGS = Path(str(files("batchproof") / "suites" / "config"))
PATIENT = 90  # seconds before a subprocess counts as hung; nothing waits that long


def invoke(capfd: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Run the command line in this process, and return the exit status, stdout and stderr."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    printed = capfd.readouterr()
    return result.exit_code, result.stdout + printed.out, result.stderr + printed.err


def one_message(text: str) -> str:
    """Return the one line that is not empty."""
    lines = [line for line in text.splitlines() if line.strip()]
    assert len(lines) == 1, text
    return lines[0]


def written(path: Path, text: str | bytes | None) -> Path:
    """Write a file, or none if the text is None."""
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path
