"""Who lives: not a process that has ended, even if nobody has asked how."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from batchproof.host.clock import HOST_CLOCK
from batchproof.host.lives import born


def test_a_process_that_nobody_has_waited_for_is_dead() -> None:
    """It still has its place in /proc."""
    child = subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE)
    assert born(child.pid).isdigit()

    child.kill()

    assert HOST_CLOCK.wait(lambda: not born(child.pid), HOST_CLOCK.now_ns() + 20 * 10**9)
    assert Path("/proc", str(child.pid)).exists()
    child.communicate()


def test_this_process_lives_and_no_process_does_not(tmp_path: Path) -> None:
    """Where there is no /proc, nobody does."""
    assert born(os.getpid()).isdigit()
    assert born(os.getpid(), tmp_path) == ""
