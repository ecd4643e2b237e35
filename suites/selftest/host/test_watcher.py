"""A process that is ended in the middle of its work is missed, and what it has started ends with it."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from batchproof.host.clock import HOST_CLOCK

PROGRAM = """
import os, signal, subprocess, sys
from batchproof.host.process_end import run_to_the_end
from batchproof.host import watcher
from batchproof.host.watcher import awaited, run_watched, tell
watcher.LOOK_S = 0.1
def work():
    tell(doing="a thing was tried", report="there")
    tell(report="")
    {}
def died(how, told):
    print(how, sorted(told.items()), flush=True)
    return 9
run_watched(lambda: run_to_the_end(work, 8), died)
"""
NO_WORD = "(as by `os._exit`) [('doing', 'a thing was tried')]"
ENDS = {
    "returns": ("print('done')", 0, "done"),
    "a status": ("sys.exit(5)", 5, ""),
    "interrupted": ("raise KeyboardInterrupt", 8, ""),
    "_exit": ("os._exit(0)", 9, f"ended with status 0 {NO_WORD}"),
    "a segmentation fault": (
        "os.kill(os.getpid(), signal.SIGSEGV)", 9, "was killed by SIGSEGV [('doing', 'a thing was tried')]",
    ),
    "no memory": (
        "os.kill(os.getpid(), signal.SIGKILL)", 9,
        "was killed by SIGKILL (as by a kernel that has run out of memory) [('doing', 'a thing was tried')]",
    ),
    "a call that never returns": (
        "with awaited('a call', 0.2): signal.pause()",
        9, "was ended, as a call had not returned after 0.2 s [('doing', 'a thing was tried')]",
    ),
    "a call that returns": ("with awaited('a call', 0.2): pass\n    signal.sigtimedwait([signal.SIGUSR1], 1)", 0, ""),
}  # fmt: skip


def program(work: str) -> list[str]:
    """Return the command of a program that is watched while it does this."""
    return [sys.executable, "-c", PROGRAM.format(work)]


@pytest.mark.parametrize("end", ENDS)
def test_how_it_ends(end: str) -> None:
    """Its own status if it came to its end; else the one that the parent gives, who knows how it was and what it did."""
    work, status, said = ENDS[end]

    run = subprocess.run(program(work), capture_output=True, text=True, timeout=60, check=False)

    assert (run.returncode, run.stdout.strip(), "Traceback" in run.stderr) == (status, said, False)


def test_nothing_that_it_has_started_is_left(tmp_path: Path) -> None:
    """Not even what is in a session of its own."""
    file = tmp_path / "id"
    child = [sys.executable, "-c", "import time; time.sleep(600)"]
    work = f"open({str(file)!r}, 'w').write(str(subprocess.Popen({child!r}, start_new_session=True).pid)); os._exit(0)"

    subprocess.run(program(work), capture_output=True, timeout=60, check=False)

    pid = int(file.read_text())
    assert HOST_CLOCK.wait(lambda: not Path(f"/proc/{pid}").exists(), HOST_CLOCK.now_ns() + 20 * 10**9)


def test_a_signal_is_passed_on() -> None:
    """What a person sends to the process that was started reaches the one that works."""
    work = textwrap.dedent("""
        print(signal.signal(signal.SIGTERM, lambda *_: sys.exit(6)) and 'ready', flush=True)
            signal.pause()
    """).strip()
    run = subprocess.Popen(program(work), stdout=subprocess.PIPE, text=True)
    assert run.stdout is not None
    assert run.stdout.readline()

    run.terminate()

    assert run.wait(60) == 6
    run.stdout.close()


def test_it_ends_with_its_parent(tmp_path: Path) -> None:
    """However that ends."""
    file = tmp_path / "id"
    work = f"open({str(file)!r}, 'w').write(f'{{os.getpid()}}\\n'); signal.pause()"
    run = subprocess.Popen(program(work))
    assert HOST_CLOCK.wait(lambda: file.exists() and file.read_text().endswith("\n"), HOST_CLOCK.now_ns() + 60 * 10**9)

    run.kill()
    run.wait(60)

    pid = int(file.read_text())
    assert HOST_CLOCK.wait(lambda: not Path(f"/proc/{pid}").exists(), HOST_CLOCK.now_ns() + 20 * 10**9)
