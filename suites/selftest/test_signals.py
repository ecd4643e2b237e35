"""However a command is asked to end, or ended without being asked, it ends what it has started."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from batchproof.exit_status import ExitStatus
from batchproof.host.interruption import ONE_S
from batchproof.reports import headline, read

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
HANGS_AT_ITS_END = """
    def close(self):
        open("closing", "w").close()
        threading.Event().wait()
"""
ENDS = """
import os, signal
from batchproof.reference_batcher import BatcherConfig
from batchproof.targets.reference import ReferenceTarget
class Ends(ReferenceTarget):
    deploys_at_once = 0
    def deploy(self, config):
        if config.max_queue_delay_ns:
            {}
        return super().deploy(config)
"""
COMMANDS = {
    "check": ["check", "--target", "waits:Waits", "--rules", "DB-SIZE-001"],
    "adapter": ["adapter", "check", "waits:Waits"],
}


def started(words: list[str], folder: Path) -> subprocess.Popen[str]:
    """Start a command in this folder; return it when its adapter has started a process and waits."""
    program = [sys.executable, "-m", "batchproof", *words]
    run = subprocess.Popen(program, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while not (folder / "child").exists() or not (folder / "child").read_text().endswith("\n"):
        assert run.poll() is None
        threading.Event().wait(0.05)
    return run


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_every_request_to_end_ends_what_was_started(words: list[str], number: signal.Signals, tmp_path: Path) -> None:
    """Also a closed terminal, and also a command that only tries an adapter."""
    (tmp_path / "waits.py").write_text(ADAPTER, encoding="utf-8")
    run = started(words, tmp_path)

    run.send_signal(number)
    _, said = run.communicate(timeout=100)

    assert (run.returncode, "Traceback" in said) == (ExitStatus.INTERRUPTED, False)
    assert not Path(f"/proc/{(tmp_path / 'child').read_text().strip()}").exists()


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_who_asks_twice_does_not_wait(words: list[str], tmp_path: Path) -> None:
    """A server that does not let itself be closed keeps nobody waiting who asks again."""
    (tmp_path / "waits.py").write_text(ADAPTER + HANGS_AT_ITS_END, encoding="utf-8")
    run = started(words, tmp_path)

    run.send_signal(signal.SIGTERM)
    while not (tmp_path / "closing").exists():
        assert run.poll() is None
        threading.Event().wait(0.05)
    threading.Event().wait(ONE_S)
    run.send_signal(signal.SIGTERM)
    _, said = run.communicate(timeout=50)

    assert (run.returncode, "Traceback" in said) == (ExitStatus.INTERRUPTED, False)
    assert not Path(f"/proc/{(tmp_path / 'child').read_text().strip()}").exists()


@pytest.mark.parametrize("end", ["os._exit(0)", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_an_adapter_that_ends_the_process_is_told(end: str, tmp_path: Path) -> None:
    """The status is not that of success, and the report says what was judged before, and what was under way."""
    (tmp_path / "ends.py").write_text(ENDS.format(end), encoding="utf-8")
    options = ["--target", "ends:Ends", "--rules", "DB-SIZE-002,DB-DELAY-001", "--report", "out"]
    program = [sys.executable, "-m", "batchproof", "check", *options]

    run = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)

    report = read(tmp_path / "out")
    assert (run.returncode, "Traceback" in run.stderr) == (ExitStatus.FAILED, False), run.stderr
    assert "while DB-DELAY-001 was judged: find out what in the adapter or its stack does that" in run.stderr
    assert [one["rule"] for one in report.results] == ["DB-SIZE-002"]
    assert report.footer is not None
    assert report.footer["reason"].endswith("while DB-DELAY-001 was judged")
    assert headline(report) == "NO VERDICT: the run ended early, 1 of 2 rules with a result"
    assert (tmp_path / "out" / "report.html").exists()
