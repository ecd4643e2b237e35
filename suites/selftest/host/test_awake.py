"""Keeping a virtual machine's processors awake: what does it, and for how long."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from batchproof.cli import app
from batchproof.host.awake import awake, kept_awake


def test_processors_are_awake_only_inside():
    """One process for each processor computes while nothing else wants to, in any session, and none is left afterwards."""
    with awake() as spinners:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and any(os.sched_getscheduler(pid) != os.SCHED_IDLE for pid in spinners):
            time.sleep(0.05)
        policies = {os.sched_getscheduler(pid) for pid in spinners}

        asked = [path.read_text().split()[-1] for pid in spinners if (path := Path(f"/proc/{pid}/autogroup")).exists()]
        assert kept_awake()

    assert not kept_awake()
    assert policies == {os.SCHED_IDLE}
    assert set(asked) <= {"19"}, "a server in a session of its own would share its processors with them"
    assert len(spinners) == len(os.sched_getaffinity(0))
    assert not any(Path(f"/proc/{pid}").exists() for pid in spinners)


@pytest.mark.parametrize(
    ("command", "lines"),
    [("check --rules DB-SIZE-001", "report.jsonl"), ("bench --only static --quick", "bench.jsonl")],
    ids=["check", "bench"],
)
def test_our_commands_can_keep_them_awake(tmp_path, command, lines):
    """With `--awake`, the report says that the processors were kept awake."""
    asked = [*command.split(), "--awake", "--target", "virtual", "--report", str(tmp_path)]
    ended = subprocess.run([sys.executable, "-m", "batchproof", *asked], capture_output=True, timeout=60, check=False)

    assert ended.returncode == 0, ended.stderr
    header = json.loads((tmp_path / lines).read_text().splitlines()[0])
    assert header["host"]["awake"] is True
    assert ("--awake" in header["command"]) == (lines == "bench.jsonl"), "a verdict on a rule does not depend on it"


def test_a_system_without_sched_idle_is_refused(monkeypatch, capsys):
    """The message is one line, and the exit status is misuse."""
    monkeypatch.delattr(os, "SCHED_IDLE")

    with pytest.raises(SystemExit) as ended:
        app(["tune", "--target", "virtual", "--awake"])

    assert ended.value.code == 2
    assert "needs the SCHED_IDLE of Linux" in capsys.readouterr().err
