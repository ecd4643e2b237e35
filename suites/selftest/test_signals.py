"""However a command is asked to end, it ends what it has started."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from batchproof.exit_status import ExitStatus

ADAPTER = """
import subprocess, sys, threading
from batchproof.targets import TargetInfo
class Waits:
    info = TargetInfo("waits", "1", "waits:Waits")
    def deploy(self, config):
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
        with open("child", "w") as file:
            file.write(f"{child.pid}\\n")
        threading.Event().wait()
"""
COMMANDS = {
    "check": ["check", "--target", "waits:Waits", "--rules", "DB-SIZE-001"],
    "adapter": ["adapter", "check", "waits:Waits"],
}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_every_request_to_end_ends_what_was_started(words: list[str], number: signal.Signals, tmp_path: Path) -> None:
    """Also a closed terminal, and also a command that only tries an adapter."""
    (tmp_path / "waits.py").write_text(ADAPTER, encoding="utf-8")
    program = [sys.executable, "-m", "batchproof", *words]
    run = subprocess.Popen(program, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "child").exists() or not (tmp_path / "child").read_text().endswith("\n"):
        assert run.poll() is None
        threading.Event().wait(0.05)

    run.send_signal(number)
    _, said = run.communicate(timeout=100)

    assert (run.returncode, "Traceback" in said) == (ExitStatus.INTERRUPTED, False)
    assert not Path(f"/proc/{(tmp_path / 'child').read_text().strip()}").exists()
